export {
  KubeClient,
  type KubeClientOptions,
  type RequestReport,
  type RunOptions,
  type Verb,
  type WriteOptions,
} from './client.ts';
export {
  apiErrorOf,
  BodyTooLargeError,
  ConnectionError,
  IdleTimeoutError,
  isStatus,
  isTaken,
  KubeApiError,
} from './errors.ts';
