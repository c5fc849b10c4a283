// @capabilities/mcp-slack.d.ts
declare module '@capabilities/mcp-slack' {
  export interface Channel {
    id: string;
    name: string;
  }
  
  export interface Message {
    channel: string;
    text: string;
    ts: string;
  }
  
  export const slack: {
    listChannels(): Promise<Channel[]>;
    postMessage(params: { channel: string; text: string }): Promise<Message>;
    getChannelHistory(params: { channel: string; limit?: number }): Promise<Message[]>;
  };
}
