import { desk } from '@capabilities/desk';

export default (await desk.text({ bytes: 100000 })).text.length;
