import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { eventually } from '@kube-semaphore/eventually';
import {
  endpointSlice,
  globalNetworkSetCrd,
  service,
  spawnProgram,
  startCluster,
  STEERING,
} from '@kube-semaphore/testkit';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { kubeconfigOf, startApiServer } from './support/api-server.ts';
import { policyPage } from './support/pages.ts';
import { run, runHere, start } from './support/run.ts';

const pod = { app: 'semaphore-policy', name: 'policy-0' };

/** A Pod whose status is that of a process of the app, until the test ends. */
async function appPod(app: string, argv: readonly string[]) {
  const launcher = new URL(`../../${app}/bin/semaphore-${app}.js`, import.meta.url);
  const program = spawnProgram(fileURLToPath(launcher), argv);
  onTestFinished(async () => void (await program.stop()));
  await program.ready();
  const status = async (): Promise<string> => (await program.get('/status')).body;
  return { app: `semaphore-${app}`, name: `${app}-0`, status };
}

describe('status', () => {
  it('prints apps and pairs of several clusters, and ends with 0 if all is fine', async () => {
    const [c1, c2] = await Promise.all([
      startApiServer({
        pods: [
          { ...pod, status: () => policyPage() },
          { ...pod, name: 'policy-1', status: () => policyPage().replace('true', 'false') },
        ],
      }),
      startApiServer({ pods: [{ ...pod, status: () => policyPage({ name: 'c1' }) }] }),
    ]);
    const kubeconfig = await kubeconfigOf({ c1, c2 });
    const { code, stdout, stderr } = await runHere(
      {},
      'status',
      '--kubeconfig',
      kubeconfig,
      '--context=c1',
      '--context=c2',
    );
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.replaceAll(/\d+d ago/g, '9d ago').split('\n')).toEqual([
      'CLUSTER  APP               VERSION  READY  LEADER',
      'c1       semaphore-policy  0.1.0    2/2    policy-0',
      'c2       semaphore-policy  0.1.0    1/1    policy-0',
      '',
      'FROM  TO  POLICY           SERVICE-MIRROR  WIREGUARD  TUNNELS  LAST CHANGE',
      'c1    c2  12 pods, 3 sets  -               -          -        9d ago',
      'c2    c1  12 pods, 3 sets  -               -          -        9d ago',
      '',
    ]);
  });

  it('reads what semaphore-policy and semaphore-service-mirror serve', async () => {
    const [local, remote] = await Promise.all(['c1', 'c2'].map((name) => startCluster({ name })));
    onTestFinished(async () => void (await Promise.all([local!.stop(), remote!.stop()])));
    await local!.defineResource(globalNetworkSetCrd('crd.projectcalico.org'));
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'sys-semaphore' } };
    await local!.admin.create('/api/v1/namespaces', namespace);
    // A mirror, whose name the program asks of the DNS server of this machine.
    await remote!.admin.create(
      '/api/v1/namespaces/default/services',
      service({ name: 'web', labels: { mirror: 'true' } }),
    );
    await remote!.admin.create(
      '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices',
      endpointSlice({ name: 'web-1', service: 'web', labels: { mirror: 'true' }, endpoints: ['10.4.1.38'] }),
    );
    const usual = [`-target-kube-config=${remote!.adminKubeconfig}`, '-listen-address=127.0.0.1:0'];
    const here = local!.adminKubeconfig;
    const pods = await Promise.all([
      appPod('policy', [`-local-kube-config=${here}`, '-target-cluster-name=c2', ...usual]),
      appPod('service-mirror', [
        `-kube-config=${here}`,
        '-svc-prefix=c2',
        '-label-selector=mirror=true',
        '-mirror-ns=sys-semaphore',
        ...usual,
      ]),
    ]);
    const kubeconfig = await kubeconfigOf({ c1: await startApiServer({ pods }) }, 'c1');
    const page = async () => {
      const { code, stdout } = await runHere({}, 'status', '--kubeconfig', kubeconfig, '-o', 'json');
      expect(code).toBe(0);
      return JSON.parse(stdout) as object;
    };
    const name = {
      remote: 'c2',
      name: 'web.default.svc.cluster.c2',
      address: expect.stringMatching(/^10\./) as unknown,
    };
    await eventually(page, (said) => JSON.stringify(said).includes('svc.cluster.c2'));
    expect(await page()).toMatchObject({
      schemaVersion: '1',
      clusters: [
        {
          cluster: 'c1',
          pods: [
            { app: 'semaphore-policy', node: 'n1', ready: true, status: { leader: true } },
            { app: 'semaphore-service-mirror', node: 'n1', ready: true, status: { leader: true, names: [name] } },
          ],
        },
      ],
      pairs: [
        {
          from: 'c1',
          to: 'c2',
          apps: {
            'semaphore-policy': { state: 'up', objects: { pods: 0, sets: 0 } },
            'semaphore-service-mirror': { state: 'up', objects: { services: 1, mirrors: 1 } },
          },
        },
      ],
      problems: [],
    });
  });

  it('prints the same as YAML', async () => {
    const c1 = await startApiServer({ pods: [{ ...pod, status: () => policyPage() }] });
    const words = ['status', '--kubeconfig', await kubeconfigOf({ c1 }, 'c1')];
    const [json, yaml] = [await runHere({}, ...words, '-o', 'json'), await runHere({}, ...words, '-o', 'yaml')];
    expect([yaml.code, parse(yaml.stdout)]).toEqual([0, JSON.parse(json.stdout)]);
    expect(yaml.stdout).toMatch(/^schemaVersion: "1"\nclusters:\n {2}- cluster: c1\n/);
  });

  it('names what is wrong, in foreign words that steer no terminal, and ends with 1', async () => {
    const lastError = { time: '2026-01-01T00:00:00.000Z', message: `refused ${STEERING}` };
    const down = { up: false, synced: false, objects: null, lastError };
    const c1 = await startApiServer({
      pods: [
        { ...pod, status: () => policyPage(down) },
        { ...pod, name: 'policy-1', status: 503 },
        { ...pod, name: 'policy-2', status: () => '{"schemaVersion":"2"}' },
      ],
    });
    const { code, stdout } = await runHere({}, 'status', '--kubeconfig', await kubeconfigOf({ c1 }, 'c1'));
    expect(code).toBe(1);
    expect(stdout).toContain("✗ Pods don't report their status: in c1 (policy in kube-system/policy-1): it is away");
    expect(stdout).toContain(
      "✗ Pods don't report their status: in c1 (policy in kube-system/policy-2): schemaVersion: ",
    );
    expect(stdout).toContain(
      '✗ c2 is not reached: from c1 (policy in kube-system/policy-0), since 2026-01-01T00:00:00.000Z: refused \\u001b',
    );
    expect(stdout.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  });

  it('prints it again with --watch, until it is interrupted', async () => {
    let asked = 0;
    const c1 = await startApiServer({ pods: [{ ...pod, status: () => policyPage({ heldDeletions: (asked += 1) }) }] });
    const watch = start('status', '--kubeconfig', await kubeconfigOf({ c1 }, 'c1'), '--watch');
    await eventually(() => watch.stdout().split('FROM').length > 2 && asked >= 2, true);
    expect(await watch.stop('SIGINT')).toMatchObject({ code: 130, signal: null });
  });

  it('prints other clusters if one is not reached', async () => {
    const c1 = await startApiServer({ pods: [{ ...pod, status: () => policyPage() }] });
    const kubeconfig = await kubeconfigOf({ c1, c2: 'https://127.0.0.1:1' });
    const { code, stdout } = await runHere({}, 'status', '--kubeconfig', kubeconfig, '--context=c1', '--context=c2');
    expect(code).toBe(1);
    expect(stdout).toContain('c1    c2  12 pods, 3 sets');
    expect(stdout).toContain(
      '✗ c2: https://127.0.0.1:1 is not reached: check the network, and the server in the kubeconfig: connect ECONNREFUSED',
    );
  });
});

describe('wrong input', () => {
  it.each([
    {
      name: 'an expired token',
      served: { refusal: 401, message: 'Unauthorized' },
      want: 'c1: the API server refuses the credentials of the user "c1-admin" (401): log in again, or renew its token or certificate',
    },
    {
      name: 'a missing right',
      served: { refusal: 403, message: 'pods is forbidden' },
      want: 'c1: the user "c1-admin" lacks a right: ask an administrator for it: pods is forbidden',
    },
    {
      name: 'a cluster without our apps',
      served: { pods: [] },
      want: 'c1: no Pod of an app was found: check the context, or install the apps',
    },
  ])('is one sentence that says what to do: $name', async ({ served, want }) => {
    const kubeconfig = await kubeconfigOf({ c1: await startApiServer(served) }, 'c1');
    expect(await runHere({}, 'status', '--kubeconfig', kubeconfig)).toEqual({
      code: 1,
      stdout: `✗ ${want}\n`,
      stderr: '',
    });
  });

  it.each([
    { name: 'no kubeconfig', argv: ['status'], want: 'no kubeconfig was found: set --kubeconfig or KUBECONFIG' },
    {
      name: 'no current context',
      argv: ['status', '--kubeconfig', 'FILE'],
      want: 'the kubeconfig has no current context: use --context with one of c1, c2',
    },
    {
      name: 'an unknown context',
      argv: ['status', '--kubeconfig', 'FILE', '--context', 'c3'],
      want: 'there is no context "c3" in the kubeconfig: use --context with one of c1, c2',
    },
    {
      name: 'no file',
      argv: ['status', '--kubeconfig', '/nonexistent'],
      want: "/nonexistent can't be read: there is no such file (ENOENT): set --kubeconfig or KUBECONFIG to another file",
    },
    { name: 'an unknown shell', argv: ['completion', 'csh'], want: '"csh" is not a known shell: use bash, zsh, fish' },
  ])('ends with 2: $name', async ({ argv, want }) => {
    const file = await kubeconfigOf({ c1: 'https://127.0.0.1:1', c2: 'https://127.0.0.1:1' });
    const { code, stdout, stderr } = await runHere({}, ...argv.map((word) => (word === 'FILE' ? file : word)));
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: `semaphore: ${want}\n` });
  });

  it('does not quote a kubeconfig that is not valid', async () => {
    const file = await kubeconfigOf({ c1: 'https://127.0.0.1:1' });
    await writeFile(file, 'users: [{ user: { token: secret-token }');
    const stderr = expect.stringMatching(
      /^semaphore: kubeconfig \S+: line 1 is not valid YAML \([A-Z_]+\): set --kubeconfig or KUBECONFIG to another file\n$/,
    );
    expect(await run('status', '--kubeconfig', file)).toEqual({ code: 2, stdout: '', stderr });
  });

  it.each([{ argv: ['stat'] }, { argv: ['status', '--contexts', 'c1'] }, { argv: ['status', '-o', 'xml'] }])(
    'ends with 2: $argv',
    async ({ argv }) => {
      const { code, stderr } = await runHere({}, ...argv);
      expect([code, stderr]).toEqual([2, expect.stringMatching(/^semaphore: (unknown|option) /)]);
    },
  );
});
