import { eventually } from '@kube-semaphore/eventually';
import { describe, expect } from 'vitest';
import { itWithPolicy as it } from './support/it.ts';
import { labelsOf } from './support/sets.ts';

const pod = { name: 'a', app: 'app', ips: ['10.4.0.1', 'fd00::1'] };
const nets = ['10.4.0.1/32', 'fd00::1/128'];
const labels = labelsOf('app');

// Long before the next periodic list: within the timeout of `eventually`. The Go program took up to an hour
// (-full-store-resync-period).
describe('a set is restored at once', () => {
  it.for([
    { name: 'a net is gone', patch: { spec: { nets: ['fd00::1/128'] } } },
    { name: 'a net is added', patch: { spec: { nets: [...nets, '0.0.0.0/0'] } } },
    { name: 'all nets are gone', patch: { spec: { nets: [] } } },
    { name: 'a net is spelled another way', patch: { spec: { nets: ['10.4.0.1', 'fd00::1/128'] } } },
    { name: 'the spec is gone', patch: { spec: null } },
    { name: 'a label has another value', patch: { metadata: { labels: { 'semaphore.uw.systems/name': 'other' } } } },
    { name: 'a label is gone', patch: { metadata: { labels: { 'semaphore.uw.systems/namespace': null } } } },
    {
      name: 'a label is added that only we set',
      patch: { metadata: { labels: { 'policy.semaphore.uw.io/peer': 'x' } } },
    },
    {
      name: 'an annotation of Calico overrides the labels',
      patch: {
        metadata: { annotations: { 'projectcalico.org/metadata': '{"labels":{"semaphore.uw.systems/name":"other"}}' } },
      },
    },
  ])('when $name (Go did so within the hour)', async ({ patch }, { pods, sets }) => {
    await pods.add(pod);
    await sets.become({ 'c2-default-app': nets });
    await sets.patch('c2-default-app', patch);
    await eventually(
      async () => {
        const { metadata, spec } = await sets.get('c2-default-app');
        return { labels: metadata.labels, annotations: metadata.annotations ?? {}, spec };
      },
      { labels, annotations: {}, spec: { nets } },
    );
  });

  it('when it is deleted (Go did so within the hour)', async ({ pods, sets, policy }) => {
    const repairs = async () => (await policy.metric('semaphore_policy_repairs_total', { remote: 'c2' })) ?? Number.NaN;
    await pods.add(pod);
    await sets.become({ 'c2-default-app': nets });
    const before = await repairs();
    await sets.remove('c2-default-app');
    await sets.become({ 'c2-default-app': nets });
    expect((await sets.get('c2-default-app')).metadata.labels).toEqual(labels);
    await eventually(repairs, before + 1);
  });

  it('when it is a copy of another set', async ({ pods, sets }) => {
    await pods.add(pod);
    await sets.become({ 'c2-default-app': nets });
    await sets.add({ name: 'c2-default-copy', labels: labelsOf('copy'), nets });
    await sets.become({ 'c2-default-app': nets });
  });
});

describe('a set', () => {
  it('keeps other metadata', async ({ pods, sets }) => {
    await pods.add(pod);
    await sets.become({ 'c2-default-app': nets });
    const ownerReferences = [
      { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: '6f0c8f5e-8c1c-4a53-9a8e-0d5b7a3a2c11' },
    ];
    const finalizers = ['example.com/keep'];
    await sets.patch('c2-default-app', {
      metadata: { labels: { team: 'a' }, annotations: { note: 'why' }, ownerReferences, finalizers },
    });
    await pods.add({ name: 'b', app: 'app', ips: ['10.4.0.2'] });
    await sets.become({ 'c2-default-app': ['10.4.0.1/32', '10.4.0.2/32', 'fd00::1/128'] });
    const { metadata } = await sets.get('c2-default-app');
    expect(metadata).toMatchObject({
      labels: { ...labels, team: 'a' },
      annotations: { note: 'why' },
      ownerReferences,
      finalizers,
    });
    await sets.patch('c2-default-app', { metadata: { finalizers: null } });
  });
});
