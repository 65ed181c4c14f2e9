import { eventually } from '@kube-semaphore/eventually';
import { describe, expect } from 'vitest';
import { it } from './support/it.ts';
import { itWithTwoRemotes } from './support/remotes.ts';
import { mirrorLabels } from './support/mirror-process.ts';

const web = { name: 'web', namespace: 'default' };
const mirror = 'c2-default-73736d-web';
const skipped = 'semaphore_service_mirror_skipped_objects';

type Families = { readonly ipFamilyPolicy: string; readonly ipFamilies: readonly string[] };

const dual: Families = { ipFamilyPolicy: 'PreferDualStack', ipFamilies: ['IPv4', 'IPv6'] };
const dual6: Families = { ipFamilyPolicy: 'PreferDualStack', ipFamilies: ['IPv6', 'IPv4'] };
const only4: Families = { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv4'] };
const only6: Families = { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv6'] };

const familiesOf = (spec: unknown): Families => {
  const { ipFamilyPolicy, ipFamilies } = spec as Families;
  return { ipFamilyPolicy, ipFamilies };
};

describe('on a cluster with both families', () => {
  it.for([
    { name: 'IPv4', spec: only4 },
    { name: 'IPv6', spec: only6 },
    { name: 'both', spec: dual },
    { name: 'both, IPv6 first', spec: dual6 },
  ])('a mirror has those of its source: $name', async ({ spec }, { sources, mirrors, start }) => {
    await sources.add({ ...web, spec });
    await start();
    await mirrors.become({ [mirror]: [] });
    expect(familiesOf((await mirrors.service(mirror))['spec'])).toEqual(spec);
  });

  it('it may gain and lose the second family', async ({ sources, mirrors, start }) => {
    await sources.add({ ...web, spec: only4 });
    await start();
    await mirrors.become({ [mirror]: [] });
    for (const spec of [dual, only4]) {
      await sources.patch('services', web, { spec });
      await eventually(async () => familiesOf((await mirrors.service(mirror))['spec']), spec);
    }
  });

  it('it keeps both families when another field changes', async ({ sources, mirrors, start }) => {
    await sources.add({ ...web, spec: dual });
    const program = await start();
    await mirrors.become({ [mirror]: [] });
    await sources.patch('services', web, { spec: { sessionAffinity: 'ClientIP' } });
    await eventually(
      async () => ((await mirrors.service(mirror))['spec'] as { sessionAffinity: string }).sessionAffinity,
      'ClientIP',
    );
    expect(familiesOf((await mirrors.service(mirror))['spec'])).toEqual(dual);
    expect(await program.metric(skipped, { remote: 'c2', reason: 'refused', kind: 'problem' })).toBe(undefined);
  });

  it('an existing mirror keeps its primary family, which is immutable', async ({ sources, mirrors, start }) => {
    const metadata = { name: mirror, labels: mirrorLabels };
    await mirrors.create('services', {
      metadata,
      spec: { ...only4, ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
    });
    await sources.add({ ...web, spec: only6 });
    await sources.addSlice({ name: 'web-a', service: 'web', endpoints: ['fd00::1'] });
    await start();
    await mirrors.become({ [mirror]: ['fd00::1'] });
    await eventually(async () => familiesOf((await mirrors.service(mirror))['spec']), dual);
  });
});

const only = { ipFamilies: ['IPv4'] } as const;
const itOn4 = it.extend('localOptions', { scope: 'file' }, () => only);
const itWithTwoOn4 = itWithTwoRemotes.extend('localOptions', { scope: 'file' }, () => only);

describe('on a cluster with IPv4 alone', () => {
  itOn4('a mirror of both families has the one that there is', async ({ sources, mirrors, start }) => {
    await sources.add({ ...web, spec: dual });
    const program = await start();
    await mirrors.become({ [mirror]: [] });
    expect(familiesOf((await mirrors.service(mirror))['spec'])).toEqual({ ...dual, ipFamilies: ['IPv4'] });
    await program.stop();
    const again = await start();
    await again.logged('services listed');
    expect(again.log().filter(({ msg }) => msg.startsWith('service updated'))).toEqual([]);
  });

  itOn4('a mirror of both, IPv6 first, has IPv4', async ({ sources, mirrors, start }) => {
    await sources.add({ ...web, spec: dual6 });
    await start();
    await mirrors.become({ [mirror]: [] });
    expect(familiesOf((await mirrors.service(mirror))['spec'])).toEqual({ ...dual, ipFamilies: ['IPv4'] });
  });

  itOn4(
    'one of IPv6 is skipped, unless it is headless, and the API server is not asked',
    async ({ sources, mirrors, start }) => {
      await sources.add({ ...web, spec: only6 });
      await sources.add({ name: 'headless', spec: { ...only6, clusterIP: 'None' } });
      const program = await start();
      await mirrors.become({ 'c2-default-73736d-headless': [] });
      const labels = { remote: 'c2', reason: 'family-not-supported', kind: 'problem' };
      expect(await program.metric(skipped, labels)).toBe(1);
      expect((await program.get('/metrics')).body).not.toMatch(/kube_http_request_total\{.*code="422"/);
      await sources.patch('services', web, { spec: dual6 });
      await mirrors.become({ 'c2-default-73736d-headless': [], [mirror]: [] });
      await eventually(() => program.metric(skipped, labels), 0);
    },
  );

  itWithTwoOn4(
    'an older Service of IPv6 keeps no global Service from the others',
    async ({ sources, secondSources, mirrors, startWithFile }) => {
      const labels = { global: 'true', mirror: 'false' };
      const slice = (name: string, ...endpoints: string[]) => ({ name, service: 'web', labels, endpoints });
      await sources.add({ ...web, labels, spec: only6 });
      await sources.addSlice(slice('web-6', 'fd00:4::1'));
      // Creation times are whole seconds.
      const { creationTimestamp } = (await sources.object('services', web)).metadata;
      await eventually(() => Date.now() - Date.parse(String(creationTimestamp)) > 1_000, true);
      await secondSources.add({ ...web, labels, spec: only4 });
      await secondSources.addSlice(slice('web-4', '10.5.0.1'));
      const program = await startWithFile({ globalSvcLabelSelector: 'global=true' });
      await mirrors.become({ 'gl-default-73736d-web': ['10.5.0.1'] });
      expect((await mirrors.service('gl-default-73736d-web')).metadata.annotations).toMatchObject({
        'global-svc-clusters': 'c2-a',
      });
      expect(await program.metric(skipped, { remote: 'c2', reason: 'family-not-supported', kind: 'problem' })).toBe(1);
    },
  );

  itOn4(
    'one of IPv6 is refused if the ranges of Services are unknown, which is said once, and tried again when it changes',
    async ({ local, sources, mirrors, start }) => {
      await local.admin.delete('/apis/networking.k8s.io/v1/servicecidrs/kubernetes');
      await sources.add({ ...web, spec: only6 });
      await sources.add({ name: 'other' });
      const program = await start({ 'resync-period': '50ms' });
      await mirrors.become({ 'c2-default-73736d-other': [] });
      await eventually(() => program.metric(skipped, { remote: 'c2', reason: 'refused', kind: 'problem' }), 1);
      // It is reconciled every 50 ms, and so are the others.
      for (const n of [1, 2, 3, 4]) {
        await sources.addSlice({ name: `other-${n}`, service: 'other', endpoints: [`10.4.0.${n}`] });
        await eventually(async () => (await mirrors.endpoints())['c2-default-73736d-other']?.length, n);
      }
      expect(program.log().filter(({ msg }) => msg === 'skipped')).toHaveLength(1);
      expect(program.log().filter(({ msg }) => msg.includes('not written'))).toEqual([]);
      const refusals = async () =>
        (await program.get('/metrics')).body.match(/kube_http_request_total\{.*code="422".*\} (\d+)/)?.[1];
      expect(await refusals()).toBe('1');

      await sources.patch('services', web, { spec: { ports: [{ name: 'web', port: 81 }] } });
      await eventually(refusals, '2');
      await sources.patch('services', web, { spec: { ...dual6 } });
      await eventually(refusals, '3');
      await sources.remove('services', web);
      await sources.add({ ...web, spec: only4 });
      await eventually(async () => (await mirrors.endpoints())[mirror], []);
      await eventually(() => program.metric(skipped, { remote: 'c2', reason: 'refused', kind: 'problem' }), 0);
    },
  );
});
