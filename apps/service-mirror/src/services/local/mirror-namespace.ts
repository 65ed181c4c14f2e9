import type { RunOptions } from '@kube-semaphore/kube-client';
import type { Logger } from '@kube-semaphore/runtime';

/** The mirror namespace is missing. Only an operator creates it. */
export class NoNamespaceError extends Error {
  readonly code = 'NO_NAMESPACE';
  override readonly name = 'NoNamespaceError';
  readonly namespace: string;

  constructor(namespace: string, { cause }: { cause: unknown }) {
    super(`the mirror namespace ${namespace} is missing in the local cluster: create it`, { cause });
    this.namespace = namespace;
  }
}

export type NamespaceCheck = {
  readonly writer: { checkNamespace(running: RunOptions): Promise<void> };
  readonly local: { services(): readonly unknown[] };
  readonly log: Logger;
};

/** @returns the mirror namespace if the API server says that it is missing; otherwise undefined, also if the check fails */
export async function missingNamespace(
  { writer, local, log }: NamespaceCheck,
  running: RunOptions,
): Promise<string | undefined> {
  if (local.services().length > 0) return undefined;
  try {
    await writer.checkNamespace(running);
  } catch (error) {
    if (error instanceof NoNamespaceError) return error.namespace;
    log.debug({ error }, 'mirror namespace not checked');
  }
  return undefined;
}

/** Warns before the first write, which may be much later. Never rejects. */
export async function warnOfMissingNamespace(check: NamespaceCheck, running: RunOptions): Promise<void> {
  const namespace = await missingNamespace(check, running);
  if (namespace !== undefined)
    check.log.warn({ namespace }, 'mirror namespace is missing: create it, or nothing can be written');
}
