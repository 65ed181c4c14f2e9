// Real: an admission plugin of kube-apiserver checks owner references.
import { describe, expect } from 'vitest';
import { it as itOnClusters } from '../support/it.ts';

/** As on OpenShift: only accounts that may update finalizers may set blocking owners. */
const it = itOnClusters.extend('localOptions', { scope: 'file' }, () => ({
  admissionPlugins: ['OwnerReferencesPermissionEnforcement'],
}));

describe('with OwnerReferencesPermissionEnforcement', () => {
  it('the documented Role is enough to create, update and delete slices', async ({ sources, mirrors, start }) => {
    await sources.add({ name: 'web' });
    await sources.addSlice({ name: 'web-a', service: 'web', endpoints: ['10.4.0.1'] });
    const program = await start();
    await mirrors.become({ 'c2-default-73736d-web': ['10.4.0.1'] });
    await sources.addSlice({ name: 'web-b', service: 'web', endpoints: ['10.4.0.2'] });
    await sources.remove('endpointslices', { name: 'web-a' });
    await mirrors.become({ 'c2-default-73736d-web': ['10.4.0.2'] });
    await sources.remove('services', { name: 'web' });
    await mirrors.become({});
    expect(program.log().filter(({ level }) => level === 'warn' || level === 'error')).toEqual([]);
  });
});
