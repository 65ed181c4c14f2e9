/** A server sent bytes that don't match their type. Callers match on `code`. */
export class DecodeError extends Error {
  readonly code = 'KUBE_DECODE';
  override readonly name: string = 'DecodeError';
}

/**
 * The bytes are well-formed, but exceed a limit: a field has more than its table allows, or an object or a page would
 * take many times its own size.
 */
export class TooLargeError extends DecodeError {
  override readonly name = 'TooLargeError';
}
