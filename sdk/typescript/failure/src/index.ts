export { classify, KINDS } from './classify.js';
export { classifyError, evidenceOf, type About } from './errors.js';
export type { Evidence, Failure, Phase } from './evidence.js';
export type { Kind } from './tables.js';
export { providerName, statusUrl } from './provider_names.js';
