import { startFaultProxy } from '@kube-semaphore/fault-proxy';
import { describe, expect, onTestFinished } from 'vitest';
import { argvOf, usualFlags } from './support/command-line.ts';
import { it } from './support/it.ts';
import { labelsOf } from './support/sets.ts';

describe('plan', () => {
  it('prints what would be written, and writes nothing', async ({ pods, sets, history, plan }) => {
    await pods.add(
      { name: 'a', app: 'app', ips: ['10.4.0.1'] },
      { name: 'h', app: 'app', ips: ['10.9.0.1'], hostNetwork: true },
    );
    await sets.add({ name: 'c2-default-old', labels: labelsOf('old'), nets: ['10.4.0.9/32'] });
    const { code, stdout } = await plan();
    expect(code).toBe(0);
    expect(stdout.split('\n').slice(0, 2)).toEqual([
      'create  c2-default-app  10.4.0.1/32',
      'delete  c2-default-old  10.4.0.9/32',
    ]);
    expect(stdout).toContain('skip    set c2-default-app: the Pod uses the network of its node');
    await history.caughtUp();
    expect(await sets.nets()).toEqual({ 'c2-default-old': ['10.4.0.9/32'] });
  });

  it('prints the same facts as JSON', async ({ pods, plan }) => {
    await pods.add({ name: 'a', app: 'app', ips: ['10.4.0.1'] });
    const { stdout } = await plan({ o: 'json' });
    const { changes } = JSON.parse(stdout) as { changes: unknown };
    expect(changes).toEqual([
      { change: 'create', name: 'c2-default-app', labels: labelsOf('app'), nets: ['10.4.0.1/32'] },
    ]);
  });

  it('prints what the API server would refuse, in its words, or that this is unknown', async ({
    accounts,
    local,
    pods,
    sets,
    plan,
  }) => {
    await pods.add({ name: 'a', app: 'app', ips: ['10.4.0.1'] });
    await using proxy = await startFaultProxy(local);
    const quota = 'globalnetworksets "x" is forbidden: exceeded quota: few';
    await proxy.set({ kind: 'answer', status: 403, message: quota }, { method: 'POST', target: /dryRun=All$/ });
    const reader = await local.account('reader', [
      { apiGroups: ['crd.projectcalico.org'], resources: ['globalnetworksets'], verbs: ['get', 'list', 'watch'] },
    ]);
    const refused = await plan({ 'local-kube-config': await proxy.kubeconfig(accounts.local) });
    const unknown = await plan({ 'local-kube-config': reader.kubeconfig });
    expect(refused.stdout).toMatch(/\nrefuse! GlobalNetworkSet c2-default-app: ".*exceeded quota: few"\n/);
    expect(unknown.stdout).toContain('\nrefuse? unknown for 1 change: this account may not make them\n');
    expect([refused.code, unknown.code]).toEqual([0, 0]);
    expect(await sets.nets()).toEqual({});
  });

  it('warns of a remote that is the local cluster at another address', async ({ accounts, local, plan }) => {
    const proxy = await startFaultProxy(local);
    onTestFinished(() => proxy.stop());
    const { stderr } = await plan({ timeout: '10s', 'target-kube-config': await proxy.kubeconfig(accounts.local) });
    expect(stderr).toMatch(/: warning: -target-kube-config.* leads to the same cluster as -local-kube-config/);
  });

  it('names a missing right, on the remote and the local cluster, and ends with 1', async ({ local, remote, plan }) => {
    const [here, there] = await Promise.all([local, remote].map((each) => each.account('nobody', [])));
    const [ofRemote, ofLocal] = await Promise.all([
      plan({ timeout: '10s', 'target-kube-config': there!.kubeconfig }),
      plan({ timeout: '10s', 'local-kube-config': here!.kubeconfig }),
    ]);
    expect([ofRemote.code, ofLocal.code]).toEqual([1, 1]);
    expect(ofRemote.stdout).toMatch(/^Changes are unknown: c2 not reached\.\n\nc2: not reached: .*forbidden/);
    expect(ofLocal.stderr).toMatch(/couldn't be read within 10000 ms: .*forbidden/);
  });
});

describe('check and explain, which semaphore has now', () => {
  it.for([
    {
      words: ['check', '-config=/missing', '-bogus'],
      want: 'check has moved: use "semaphore check --network-policies --context c1 --context c2"',
    },
    {
      words: ['explain', 'c2/beta/pod/web', 'alpha/pod/db', '5432', '-o=json'],
      want: 'explain has moved: use "semaphore explain --from c2/beta/pod/web --to LOCAL/alpha/pod/db:5432"',
    },
  ])('print one line that names the command, and end with 2: $words', async ({ words, want }, { startWith }) => {
    const program = await startWith(words, { ready: false });
    const { code } = await program.exited;
    const line = `semaphore-policy: ${want}, with contexts of your kubeconfig\n`;
    expect({ code, stdout: program.stdout(), stderr: program.stderr() }).toEqual({ code: 2, stdout: '', stderr: line });
  });
});

describe('cleanup', () => {
  const orphan = { name: 'c9-default-app', labels: labelsOf('app', { cluster: 'c9' }), nets: ['10.9.0.1/32'] };
  const ours = { name: 'c2-default-app', labels: labelsOf('app'), nets: ['10.4.0.1/32'] };
  const theirs = { name: 'c9-mine', labels: { team: 'a' }, nets: ['10.9.0.2/32'] };

  it('removes the sets of a cluster, and nothing else', async ({ accounts, sets, startWith }) => {
    await sets.add(orphan, ours, theirs);
    const cleanup = await startWith(
      ['cleanup', '-cluster=c9', '-yes', `-local-kube-config=${accounts.local.kubeconfig}`],
      { ready: false },
    );
    expect(await cleanup.exited).toEqual({ code: 0, signal: null });
    expect(Object.keys(await sets.nets())).toEqual([ours.name, theirs.name]);
  });

  it('refuses a cluster in the config', async ({ accounts, sets, startWith }) => {
    await sets.add(ours);
    const cleanup = await startWith(['cleanup', '-cluster=c2', '-yes', ...argvOf(usualFlags(accounts))], {
      ready: false,
    });
    expect(await cleanup.exited).toEqual({ code: 2, signal: null });
    expect(cleanup.stderr()).toContain('semaphore-policy: c2 is in the config: remove it there');
    expect(Object.keys(await sets.nets())).toEqual([ours.name]);
  });

  it('asks first, and does nothing without a terminal', async ({ accounts, sets, startWith }) => {
    await sets.add(orphan);
    const cleanup = await startWith(['cleanup', '-cluster=c9', `-local-kube-config=${accounts.local.kubeconfig}`], {
      ready: false,
    });
    expect(await cleanup.exited).toEqual({ code: 2, signal: null });
    expect(Object.keys(await sets.nets())).toEqual([orphan.name]);
  });
});
