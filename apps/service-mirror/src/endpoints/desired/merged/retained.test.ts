import { describe, expect, it } from 'vitest';
import { retainedForOthers, retainedOf, NOTHING_RETAINED } from './retained.ts';
import type { ObservedService, ObservedSlice } from '../observed.ts';

const definition = {
  headless: false,
  families: ['IPv4'],
  ports: [],
  affinitySeconds: undefined,
  publishNotReadyAddresses: false,
} as const;

function service(annotations: Record<string, string>, familyPolicy = 'SingleStack'): ObservedService {
  const identity = { name: 'gl-shop-73736d-web', uid: 'u', resourceVersion: '1', createdAt: 0 };
  return {
    ...identity,
    labels: { 'global-svc': 'true' },
    annotations,
    definition,
    familyPolicy,
    isPlain: true,
    isTerminating: false,
    ownerReferences: [],
    finalizers: [],
  };
}

const parts = (name: string, cluster: string) =>
  ({
    name,
    labels: { 'mirror-endpointslice-sync-name': cluster },
    annotations: {},
    family: 'IPv4',
    ports: [],
    endpoints: [],
  }) as const;
const slice = (name: string, cluster: string): ObservedSlice => ({
  ...parts(name, cluster),
  uid: name,
  resourceVersion: '1',
  owners: ['u'],
});

const c2 = { cluster: 'c2', isLocal: false };
const c1 = { cluster: 'c1', isLocal: true };

describe('retainedOf', () => {
  it('finds the slices of unknown clusters', () => {
    const kept = retainedOf({ service: undefined, slices: [slice('a', 'c2'), slice('b', 'c3'), slice('c', 'c2')] }, [
      c1,
      c2,
    ]);
    expect(kept).toEqual({ clusters: [{ ...c2, slices: [parts('a', 'c2'), parts('c', 'c2')] }], service: undefined });
  });

  it('finds clusters without slices in the annotation, in the order of Go programs', () => {
    const kept = retainedOf({ service: service({ 'global-svc-clusters': 'c3, c2,c1' }), slices: [] }, [
      c1,
      c2,
      { cluster: 'c4', isLocal: false },
    ]);
    expect(kept.clusters).toEqual([
      { ...c1, slices: [] },
      { ...c2, slices: [] },
    ]);
  });

  it('retains nothing of a Service without a part of unknown clusters', () => {
    const observed = { service: service({ 'global-svc-clusters': 'c1' }), slices: [slice('a', 'c1')] };
    expect(retainedOf(observed, [c2])).toBe(NOTHING_RETAINED);
    expect(retainedOf(observed, [])).toBe(NOTHING_RETAINED);
  });

  it('retains the Service as it is, with its conflicts', () => {
    const annotations = { 'global-svc-clusters': 'c2,c3', 'global-svc-conflicts': 'c2,c3' };
    const kept = retainedOf({ service: service(annotations), slices: [] }, [c2]);
    expect(kept.service).toEqual({ definition, localFirst: false, conflicts: ['c2', 'c3'] });
  });

  it.each([
    { name: 'the older annotation', annotations: { 'service.kubernetes.io/topology-aware-hints': 'auto' }, want: true },
    { name: 'the newer annotation', annotations: { 'service.kubernetes.io/topology-mode': 'auto' }, want: true },
    {
      name: 'an annotation with another value',
      annotations: { 'service.kubernetes.io/topology-mode': 'disabled' },
      want: false,
    },
  ])('reads local-first routing from $name', ({ annotations, want }) => {
    expect(
      retainedOf({ service: service({ ...annotations, 'global-svc-clusters': 'c2' }), slices: [] }, [c2]).service
        ?.localFirst,
    ).toBe(want);
  });

  it.each([
    { familyPolicy: 'SingleStack', want: ['IPv4'] },
    // What it would have on a cluster with both families, so that it isn't written again.
    { familyPolicy: 'PreferDualStack', want: ['IPv4', 'IPv6'] },
  ])('retains the families of $familyPolicy', ({ familyPolicy, want }) => {
    expect(
      retainedOf({ service: service({ 'global-svc-clusters': 'c2' }, familyPolicy), slices: [] }, [c2]).service
        ?.definition.families,
    ).toEqual(want);
  });
});

describe('retainedForOthers', () => {
  const configured = new Set(['c1', 'c2']);
  const c9 = { cluster: 'c9', isLocal: false, slices: [] };
  const shared = service({ 'global-svc-clusters': 'c1,c9' });

  it.each<{
    name: string;
    observed: Parameters<typeof retainedForOthers>[0];
    clusters: readonly object[];
    changes: boolean;
  }>([
    {
      name: 'a Service that lists no other cluster is not retained',
      observed: { service: service({ 'global-svc-clusters': 'c1,c2' }), slices: [slice('a', 'c1')] },
      clusters: [],
      changes: false,
    },
    {
      name: 'a Service that lists only others stays as it is',
      observed: { service: service({ 'global-svc-clusters': 'c9' }), slices: [slice('a', 'c9')] },
      clusters: [c9],
      changes: false,
    },
    {
      name: 'a Service with slices of others stays, without ours',
      observed: { service: service({ 'global-svc-clusters': 'c1' }), slices: [slice('a', 'c9')] },
      clusters: [c9],
      changes: true,
    },
    {
      name: 'a Service that also lists others stays, without ours',
      observed: { service: shared, slices: [slice('a', 'c1')] },
      clusters: [c9],
      changes: true,
    },
    {
      name: 'slices without a Service are not retained',
      observed: { service: undefined, slices: [slice('a', 'c9')] },
      clusters: [],
      changes: false,
    },
  ])('$name', ({ observed, clusters, changes }) => {
    const kept = retainedForOthers(observed, configured);
    expect(kept.clusters).toEqual(clusters);
    expect(kept.service !== undefined).toBe(changes);
  });
});
