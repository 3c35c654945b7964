export * from './client.js';
export * from './event.js';
export * from './fold.js';
export * from './names.js';
export * from './problem.js';
export * from './situation.js';
export { serverEvents, type ServerEvent } from './sse.js';
export * from './view.js';
