import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Invocation } from './program.ts';
import type { Site } from './site.ts';

/** An agent of semaphore-wireguard before it runs: how to start it, and the file that it is told to read. */
export type PreparedAgent = { readonly invocation: Invocation; readonly file: object };

/** Writes down what the agent on a cluster's node is to know: of its own cluster, and of the other one. */
export async function prepareAgent({ name, server, node, wireguard }: Site, remote: Site): Promise<PreparedAgent> {
  const file = {
    local: { name, kubeConfigPath: wireguard.writer.kubeconfig },
    remotes: [
      { name: remote.name, kubeConfigPath: remote.wireguard.reader.kubeconfig, podSubnet: [remote.network.v4, remote.network.v6] },
    ],
  };
  const config = join(server.dir, 'clusters.json');
  await writeFile(config, JSON.stringify(file));
  const flags = { 'clusters-config': config, 'node-name': node.name, 'wg-key-path': join(server.dir, 'wireguard-keys') };
  return { invocation: { program: 'semaphore-wireguard', flags }, file };
}
