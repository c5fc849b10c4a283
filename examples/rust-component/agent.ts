// The functions are answered by a component written in Rust. A script cannot tell.
import { text } from '@capabilities/text';

const song = `Row, row, row your boat
Gently down the stream,
Merrily, merrily, merrily, merrily,
Life is but a dream.`;

const { words, total } = await text.countWords({ text: song, ignoreCase: true });
console.log(`${total} words, ${words.length} different ones counted`);

// The component's own error arrives with its code and details.
let refusal = '';
try {
  await text.slug({ text: '?!' });
} catch (error) {
  if (!(error instanceof CapabilityError) || error.code !== 'text.noWords') throw error;
  refusal = `${error.message}: ${JSON.stringify(error.details)}`;
}

export default { name: await text.slug({ text: song.split('\n')[0] }), often: words.slice(0, 2), refusal };
