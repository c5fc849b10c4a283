// Stands for the server whose tools mcp-slack.json lists.

const channels = [
  { id: 'C01', name: 'random' },
  { id: 'C02', name: 'general' },
];

const messages = [
  { channel: 'C02', text: 'The build is green', ts: '1736937002.000100' },
  { channel: 'C02', text: 'Good morning', ts: '1736937001.000100' },
  { channel: 'C01', text: 'Lunch?', ts: '1736937000.000100' },
];

export function listChannels() {
  return channels;
}

export function postMessage({ channel, text }: { channel: string; text: string }) {
  return { channel, text, ts: '1736937003.000100' };
}

export function getChannelHistory({ channel, limit }: { channel: string; limit?: number }) {
  return messages.filter((message) => message.channel === channel).slice(0, limit);
}
