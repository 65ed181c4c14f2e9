/** The mirror namespace isn't there. It is nobody's but the operator's to make. */
export class NoNamespaceError extends Error {
  readonly code = 'NO_NAMESPACE';
  override readonly name = 'NoNamespaceError';

  constructor(namespace: string, { cause }: { cause: unknown }) {
    super(`there is no namespace ${namespace} in the local cluster, where the mirrors are to be: create it`, { cause });
  }
}
