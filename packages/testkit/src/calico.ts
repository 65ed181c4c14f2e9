import type { KubeObject } from './cluster.ts';

/** The groups in which Calico serves its resources: as stored, and as meant for users (also a CRD from 3.32 on). */
export type CalicoGroup = 'crd.projectcalico.org' | 'projectcalico.org';

/**
 * The CustomResourceDefinition of GlobalNetworkSet, as far as anything here depends on it: `crd.projectcalico.org/v1`
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
      versions: [{ name: v3 ? 'v3' : 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  };
}

/**
 * The CustomResourceDefinitions of Calico's IPAM as far as anything here depends on it: BlockAffinity and IPAMBlock, which
 * take any spec, as theirs do not.
 */
export const ipamCrds = (): readonly KubeObject[] => [storedCrd('BlockAffinity', 'blockaffinities'), storedCrd('IPAMBlock', 'ipamblocks')];

function storedCrd(kind: string, plural: string): KubeObject {
  const group: CalicoGroup = 'crd.projectcalico.org';
  const spec = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const properties = { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: { type: 'object' }, spec };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Cluster',
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties } } }],
    },
  };
}
