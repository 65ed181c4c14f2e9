import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestAccount } from '@kube-semaphore/embedded-apiserver';
import { type CalicoGroup, globalNetworkSetCrd } from '@kube-semaphore/testkit';
import type { Accounts } from './accounts.ts';
import { GoProgram } from './go-program.ts';
import { type GoRelease, goReleases, goRules } from './go-releases.ts';
import { it as itOnClusters } from './it.ts';
import { SetHistory } from './set-history.ts';
import { Sets } from './sets.ts';

/** The sets of one API, and their history. */
export type Witness = { readonly sets: Sets; readonly history: SetHistory };

/** How semaphore-policy is started in the place of a Go program. */
export type CommandLine = { readonly argv: readonly string[]; readonly env: Readonly<Record<string, string>> };

/** A test in which a Go program, and then semaphore-policy, keep the sets of one cluster, under one role. */
export const it = itOnClusters
  /** `projectcalico.org/v3` is served from the first call on. */
  .extend('serveCalicoApi', { scope: 'file' }, ({ local }) => {
    let served: Promise<void> | undefined;
    return () => (served ??= local.defineResource(globalNetworkSetCrd('projectcalico.org')));
  })
  /** The accounts of a release, with the roles of its manifests and nothing else. */
  .extend('accountsOf', { scope: 'file' }, ({ local, remote }) => {
    const made = new Map<GoRelease, Promise<Accounts>>();
    return (release: GoRelease): Promise<Accounts> => {
      const name = `go-${goReleases.indexOf(release)}`;
      const rules = goRules(release);
      const make = async () => ({
        local: await local.account(name, rules.local),
        remote: await remote.account(name, rules.remote),
      });
      const accounts = made.get(release) ?? make();
      made.set(release, accounts);
      return accounts;
    };
  })
  /** The URL from which the remote's CA is fetched. */
  .extend('caUrl', { scope: 'file' }, async ({ remote }, { onCleanup }) => {
    const ca = await readFile(remote.caFile);
    const server = createServer((_, response) => void response.end(ca)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onCleanup(() => void server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/ca.crt`;
  })
  .extend(
    'witness',
    ({ local, accounts, sets, pods: _pods }, { onCleanup }) =>
      async (group: CalicoGroup): Promise<Witness> => {
        const witnessed = group === 'crd.projectcalico.org' ? sets : new Sets(local, group);
        const history = await SetHistory.start(local, accounts.local, group);
        onCleanup(async () => {
          history.stop();
          if (witnessed !== sets) await witnessed.clear();
        });
        return { sets: witnessed, history };
      },
  )
  .extend('goProgram', ({ local, remote, accountsOf }) => async (release: GoRelease): Promise<GoProgram> => {
    const accounts = await accountsOf(release);
    const clients = { local: local.clientFor(accounts.local.token), remote: remote.clientFor(accounts.remote.token) };
    return new GoProgram({ release, cluster: 'c2', ...clients });
  })
  /** The release's own command line, except what a test process can't have: the pod's service account, and port 8080. */
  .extend('commandLine', ({ remote, accountsOf, caUrl }) => async (release: GoRelease): Promise<CommandLine> => {
    const accounts = await accountsOf(release);
    return {
      argv: release.argv,
      env: { ...variables(release, { url: remote.url, caUrl, accounts }), SP_LISTEN_ADDRESS: '127.0.0.1:0' },
    };
  });

type Where = {
  readonly url: string;
  readonly caUrl: string;
  readonly accounts: Record<'local' | 'remote', TestAccount>;
};

function variables({ prefix }: GoRelease, { url, caUrl, accounts }: Where): Record<string, string> {
  const values = {
    LOCAL_KUBE_CONFIG: accounts.local.kubeconfig,
    REMOTE_API_URL: url,
    REMOTE_CA_URL: caUrl,
    REMOTE_SERVICE_ACCOUNT_TOKEN: accounts.remote.token,
    TARGET_CLUSTER_NAME: 'c2',
  };
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [`${prefix}_${name}`, value]));
}
