import * as z from 'zod/mini';
import { ClusterAuthError } from '../errors.ts';
import { checkedContext, entryAt, type EntryPlace, type KubeconfigContext } from './context.ts';
import { cluster as clusterSchema, exec as execSchema, fieldOf, user as userSchema } from './schema.ts';

/** How to reach a cluster of an inventory, in the words of a kubeconfig. */
export type ProvidedAccess = {
  /** What an object of the inventory says, which is half trusted. */
  readonly cluster: unknown;
  /** The `exec` of a user, from a file of ours. */
  readonly exec: unknown;
  /** What has each of them, for errors. A relative path in `exec` begins at the folder of its file. */
  readonly from: Readonly<Record<'cluster' | 'user', EntryPlace>>;
};

/**
 * The context that an inventory and a plugin of ours make together. The object can name neither a program nor a file of this
 * machine, nor have a certificate not verified.
 *
 * @throws {ClusterAuthError} with what has the field, and the field
 */
export function providedContext({ cluster, exec, from }: ProvidedAccess): KubeconfigContext {
  const provided = read('cluster', clusterSchema, cluster, from);
  const fail = (problem: string) =>
    new ClusterAuthError('CLUSTER_KUBECONFIG', `${entryAt('cluster', from.cluster)} has ${problem}`);
  if (provided['certificate-authority'] !== undefined)
    throw fail('a file as certificate-authority: use certificate-authority-data');
  if (provided['insecure-skip-tls-verify']) throw fail('insecure-skip-tls-verify, which is not allowed');
  if (provided.server !== undefined && URL.parse(provided.server)?.protocol !== 'https:')
    throw fail('a server that is no https: URL');
  const plugin = { ...read('user', execSchema, exec, from), interactiveMode: 'Never' };
  return checkedContext({ cluster: provided, user: { ...z.parse(userSchema, {}), exec: plugin }, from });
}

function read<T>(kind: 'cluster' | 'user', schema: z.ZodMiniType<T>, value: unknown, from: ProvidedAccess['from']): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  // Without the message, which may quote a secret.
  const field = fieldOf(result.error.issues[0]?.path ?? []);
  const problem = field === '' ? 'no valid settings' : `a ${field} that is not valid`;
  throw new ClusterAuthError('CLUSTER_KUBECONFIG', `${entryAt(kind, from[kind])} has ${problem}`);
}
