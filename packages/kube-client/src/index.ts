export {
  KubeClient,
  type KubeClientOptions,
  type RequestReport,
  type RunOptions,
  type Verb,
  type WriteOptions,
} from './client.ts';
export { apiErrorOf, BodyTooLargeError, ConnectionError, IdleTimeoutError, KubeApiError } from './errors.ts';
