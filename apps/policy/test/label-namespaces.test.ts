import { describe, expect } from 'vitest';
import { it as itOnClusters } from './support/it.ts';
import { argvOf, type PolicyFlags } from './support/command-line.ts';
import { K } from './support/user-policies.ts';

const RULES = [{ apiGroups: [''], resources: ['namespaces'], verbs: ['list', 'patch'] }];

/** A test with an administrator, and with namespaces that have no label, the right one, and another one. */
const it = itOnClusters
  .extend('admin', { scope: 'file' }, ({ clusters }) => clusters.local.account('administrator', RULES))
  .extend('values', async ({ local }) => {
    const labels = { bare: null, right: 'c1', wrong: 'c8' };
    for (const [name, value] of Object.entries(labels)) {
      const metadata = { name, labels: { [K]: value } };
      const { status } = await local.admin.request('POST', '/api/v1/namespaces', { metadata: { name } });
      expect([201, 409]).toContain(status);
      await local.admin.request('PATCH', `/api/v1/namespaces/${name}`, { metadata });
    }
    const valueOf = async (name: string) => (await local.admin.get(`/api/v1/namespaces/${name}`)).metadata.labels?.[K];
    return async () =>
      Object.fromEntries(await Promise.all(Object.keys(labels).map(async (name) => [name, await valueOf(name)])));
  })
  .extend('label', ({ admin, startWith }) => async (flags: PolicyFlags = {}) => {
    const all = { 'local-kube-config': admin.kubeconfig, 'local-cluster-name': 'c1', yes: 'true', ...flags };
    const program = await startWith(['label-namespaces', ...argvOf(all)], { ready: false });
    const { code } = await program.exited;
    return { code, stdout: program.stdout(), stderr: program.stderr() };
  });

describe('label-namespaces', () => {
  it('labels namespaces without the label, and overwrites none', async ({ values, label }) => {
    const { code, stdout } = await label();
    expect(stdout).toContain('skip!   namespace wrong: it has the value "c8"; -overwrite changes it\n');
    expect(stdout).toContain(`label   namespace bare  ${K}=c1\n`);
    expect(stdout).not.toContain('namespace right');
    expect(code).toBe(1);
    expect(await values()).toEqual({ bare: 'c1', right: 'c1', wrong: 'c8' });
    const again = await label();
    expect(again.stdout).toMatch(/^skip! .*\nNo namespace to label\.\n$/);
  });

  it('replaces another value with -overwrite', async ({ values, label }) => {
    const { code, stdout } = await label({ overwrite: 'true' });
    expect(stdout).toContain(`label   namespace wrong  ${K}=c1, before: "c8"\n`);
    expect(code).toBe(0);
    expect(await values()).toEqual({ bare: 'c1', right: 'c1', wrong: 'c1' });
    expect(await label()).toMatchObject({ code: 0, stdout: 'No namespace to label.\n' });
  });

  it('asks first, and cannot without a terminal', async ({ values, label }) => {
    const { code, stderr } = await label({ yes: undefined });
    expect(stderr).toContain('label-namespaces asks before it changes anything, but stdin is not a terminal: use -yes');
    expect(code).toBe(2);
    expect(await values()).toEqual({ bare: undefined, right: 'c1', wrong: 'c8' });
  });

  it('does not use the rights of the controller', async ({ accounts, values, label, configFile }) => {
    const controller = await label({ 'local-kube-config': accounts.local.kubeconfig });
    expect(controller.stderr).toMatch(/^semaphore-policy: .*namespaces is forbidden/);
    const inCluster = await label({ 'local-kube-config': undefined, 'local-cluster-name': undefined });
    expect(inCluster.stderr).toMatch(/-local-kube-config .* is required for label-namespaces/);
    expect(inCluster.stderr).toMatch(/-local-cluster-name .* is required for label-namespaces/);
    const ofRemote = await label({ config: await configFile({ name: 'c1', allowedPodCIDRs: ['10.4.0.0/16'] }) });
    expect(ofRemote.stderr).toContain('remotes[0].clusterSetID: c1 is -local-cluster-name');
    expect([controller.code, inCluster.code, ofRemote.code]).toEqual([1, 2, 2]);
    expect(await values()).toEqual({ bare: undefined, right: 'c1', wrong: 'c8' });
  });
});
