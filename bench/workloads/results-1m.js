import { desk } from '@capabilities/desk';

export default (await desk.text({ bytes: 1000000 })).text.length;
