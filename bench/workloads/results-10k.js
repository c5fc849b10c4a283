import { desk } from '@capabilities/desk';

export default (await desk.text({ bytes: 10000 })).text.length;
