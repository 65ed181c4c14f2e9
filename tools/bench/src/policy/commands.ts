import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { clusterValues, type Texts } from '../measure/contender.ts';

/** A fixed domain, as in other programs. Without it, and without sets, Pods of two domains are listed to choose one. */
const DOMAIN = { 'label-domain': 'semaphore.uw.systems' };

/** Ours: flags for one remote, or a file for several. */
export const policyFlags: Texts = async (targets) => {
  const { local, remotes, dir } = targets;
  if (remotes.length === 1) {
    const { remote, cluster } = clusterValues(targets);
    return { 'local-kube-config': local, 'target-kube-config': remote, 'target-cluster-name': cluster, ...DOMAIN };
  }
  const config = join(dir, 'remotes.json');
  await writeFile(
    config,
    JSON.stringify({ remotes: remotes.map(({ name, kubeconfig }) => ({ name, kubeConfigPath: kubeconfig })) }),
  );
  return { 'local-kube-config': local, config, ...DOMAIN };
};

/** Ours with `-network-policies`, with its health server at a known port. */
export const networkPolicyFlags =
  (port: number): Texts =>
  async (targets) => ({
    ...(await policyFlags(targets)),
    'network-policies': 'true',
    'allowed-pod-cidrs': '10.0.0.0/8',
    'listen-address': `127.0.0.1:${port}`,
  });

/** The values in a peer's command, for one remote. */
export const policyValues: Texts = (targets) => Promise.resolve(clusterValues(targets));
