import { slack } from '@capabilities/mcp-slack';

// Find channel
const channels = await slack.listChannels();
const general = channels.find(c => c.name === 'general');

// Get recent messages
const history = await slack.getChannelHistory({ 
  channel: general.id, 
  limit: 10 
});

// Reply to the latest
await slack.postMessage({
  channel: general.id,
  text: `Re: "${history[0].text}" - Got it!`
});
