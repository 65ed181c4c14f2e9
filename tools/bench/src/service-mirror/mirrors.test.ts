import { endpointSlice, service } from '@kube-semaphore/testkit';
import { expect, it } from 'vitest';
import { Catalog } from './catalog.ts';
import { collections, expectedMirrors, watchedMirrors } from './mirrors.ts';

const name = 'c2-team-00-73736d-app-00000';
const [source] = new Catalog({ services: 1, endpoints: 2 }).services;
const addresses = source!.backends.map(({ address }) => address);
const endpoints = {
  apiVersion: 'v1',
  kind: 'Endpoints',
  metadata: { name },
  subsets: [{ addresses: addresses.map((ip) => ({ ip })) }],
};

it.each([
  { what: 'slices', objects: { slices: [endpointSlice({ name: `${name}-x`, service: name, endpoints: addresses })] } },
  { what: 'Endpoints', objects: { endpoints: [endpoints] } },
])('expects what a Service and $what hold together', ({ objects }) => {
  const all = { services: [service({ name })], ...objects };
  const held = Object.entries(all).flatMap(([collection, found]) => {
    const read = watchedMirrors[collections[collection as keyof typeof collections]]!;
    return found.map((object) => read(object));
  });
  expect(new Map([[name, new Set(held.flatMap(({ items }) => items))]])).toEqual(expectedMirrors([source!]));
  expect(new Set(held.map(({ key }) => key))).toEqual(new Set([name]));
});

it('reads objects without items', () => {
  const read = (collection: string, object: object) => watchedMirrors[collection]!(object as typeof endpoints).items;
  expect(read(collections.endpoints, { ...endpoints, subsets: undefined })).toEqual([]);
  expect(read(collections.slices, { ...endpointSlice({ name: 's', service: name }), endpoints: null })).toEqual([]);
});
