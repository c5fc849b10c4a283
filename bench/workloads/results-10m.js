import { desk } from '@capabilities/desk';

export default (await desk.text({ bytes: 10000000 })).text.length;
