import type { KubeObject } from '@kube-semaphore/embedded-apiserver';

/** The groups in which Calico serves its resources: as stored, and as meant for users (also a CRD from 3.32 on). */
export type CalicoGroup = 'crd.projectcalico.org' | 'projectcalico.org';

/**
 * The CustomResourceDefinition of GlobalNetworkSet, reduced to what we depend on: `crd.projectcalico.org/v1`
 * takes any list of nets, `projectcalico.org/v3` wants a spec and refuses duplicates, as Calico 3.32 does.
 */
export function globalNetworkSetCrd(group: CalicoGroup): KubeObject {
  const v3 = group === 'projectcalico.org';
  const nets = { type: 'array', items: { type: 'string' }, ...(v3 && { 'x-kubernetes-list-type': 'set' }) };
  const schema = {
    type: 'object',
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      spec: { type: 'object', properties: { nets } },
    },
    ...(v3 && { required: ['metadata', 'spec'] }),
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `globalnetworksets.${group}` },
    spec: {
      group,
      scope: 'Cluster',
      names: {
        kind: 'GlobalNetworkSet',
        listKind: 'GlobalNetworkSetList',
        plural: 'globalnetworksets',
        singular: 'globalnetworkset',
      },
      versions: [{ name: versionOf(group), served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  };
}

/**
 * The CustomResourceDefinitions of Calico's IPAM, reduced to what we depend on: BlockAffinity and IPAMBlock, which
 * take any spec, unlike Calico's.
 */
export const ipamCrds = (): readonly KubeObject[] => [
  looseCrd('crd.projectcalico.org', { kind: 'BlockAffinity', plural: 'blockaffinities', scope: 'Cluster' }),
  looseCrd('crd.projectcalico.org', { kind: 'IPAMBlock', plural: 'ipamblocks', scope: 'Cluster' }),
];

/** The resources of Calico's API server that our pages use: sets with their schema, policies and pools with any spec. */
export const calicoApiCrds = (): readonly KubeObject[] => [
  globalNetworkSetCrd('projectcalico.org'),
  looseCrd('projectcalico.org', { kind: 'NetworkPolicy', plural: 'networkpolicies', scope: 'Namespaced' }),
  looseCrd('projectcalico.org', { kind: 'GlobalNetworkPolicy', plural: 'globalnetworkpolicies', scope: 'Cluster' }),
  looseCrd('projectcalico.org', { kind: 'IPPool', plural: 'ippools', scope: 'Cluster' }),
];

type Kind = { readonly kind: string; readonly plural: string; readonly scope: 'Namespaced' | 'Cluster' };

/** A resource that takes any spec. */
function looseCrd(group: CalicoGroup, { kind, plural, scope }: Kind): KubeObject {
  const spec = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const properties = { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: { type: 'object' }, spec };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
      versions: [
        {
          name: versionOf(group),
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties } },
        },
      ],
    },
  };
}

const versionOf = (group: CalicoGroup): string => (group === 'projectcalico.org' ? 'v3' : 'v1');
