import { desk } from '@capabilities/desk';

export default (await desk.wait({ milliseconds: 50 })).milliseconds;
