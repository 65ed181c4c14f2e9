export { KubeClient, type RequestReport, type RunOptions, type Verb } from './client.ts';
export { apiErrorOf, BodyTooLargeError, ConnectionError, IdleTimeoutError, KubeApiError } from './errors.ts';
