/** A server sent bytes that are not what it said they are. Callers match on `code`. */
export class DecodeError extends Error {
  readonly code = 'KUBE_DECODE';
  override readonly name = 'DecodeError';
}
