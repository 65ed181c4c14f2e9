/** A server sent bytes that are not what it said they are. Callers match on `code`. */
export class DecodeError extends Error {
  readonly code = 'KUBE_DECODE';
  override readonly name: string = 'DecodeError';
}

/**
 * What came is well-formed, and more than we are ready to hold: a field that has more than its table allows, or an
 * object or a page that would take many times its own size.
 */
export class TooLargeError extends DecodeError {
  override readonly name = 'TooLargeError';
}
