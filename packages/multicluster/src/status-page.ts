import type { Command } from '@kube-semaphore/runtime';
import { jsonPage } from '@kube-semaphore/text';
import type { ConfigFileStatus } from './config/live-config.ts';
import type { InventoryStatus } from './inventory/inventory.ts';
import type { ConnectionStatus } from './remote/cluster-watches.ts';
import type { RemoteStatus } from './remote/remote-state.ts';

/** Raised by a change that a reader of the last version can't read. A new field is no such change. */
const SCHEMA_VERSION = '1';

/** What `/status` says in every app. */
export type AppStatus = {
  /** Whether this replica may write; undefined: there is one per node, and each writes. */
  readonly leader?: boolean;
  /** The local cluster. */
  readonly local: ConnectionStatus & { readonly synced: boolean };
  readonly remotes: readonly (RemoteStatus & { readonly config: object })[];
  /** Besides that of each remote. */
  readonly config: object;
  /** Absent without a config file. */
  readonly configFile?: ConfigFileStatus;
  /** Absent without one in the config file. */
  readonly inventory?: InventoryStatus;
};

/** The page of `/status`: one JSON object with texts of at most 1,024 code units, without our credentials. */
export function statusPage(
  { name, version, secrets }: Pick<Command<unknown>, 'name' | 'version' | 'secrets'>,
  status: AppStatus,
): string {
  return jsonPage({ schemaVersion: SCHEMA_VERSION, app: name, version, ...status }, (text) => secrets.strip(text));
}
