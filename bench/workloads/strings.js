function words(count) {
  let text = '';
  for (let i = 0; i < count; i++) text += `${i % 3 === 0 ? 'Harbour' : 'lake'}-${i.toString(36)} `;
  const parts = text.trimEnd().split(' ');
  const turned = parts.map((part) => part.slice(-3).toUpperCase() + part.slice(0, part.indexOf('-')).padEnd(8, '.'));
  const joined = turned.join('|').replaceAll('.', '');
  let sum = 0;
  for (let i = 0; i < joined.length; i += 3) sum = (sum * 33 + joined.charCodeAt(i)) % 1000003;
  return [joined.length, sum];
}

export default words(8000);
