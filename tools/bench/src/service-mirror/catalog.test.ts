import { expect, it } from 'vitest';
import { Catalog } from './catalog.ts';

const addressesOf = ({ services }: Catalog) =>
  services.flatMap(({ backends }) => backends.map(({ address }) => address));

it('has services in 20 namespaces, with the given endpoints each', () => {
  const { services, namespaces } = new Catalog({ services: 50, endpoints: 3 });
  expect(services.map(({ backends }) => backends.length)).toEqual(Array.from({ length: 50 }, () => 3));
  expect(new Set(services.map(({ namespace, name }) => `${namespace}/${name}`)).size).toBe(50);
  expect(namespaces).toHaveLength(20);
});

it('starts equal to another one of its size', () => {
  const size = { services: 5, endpoints: 3 };
  expect(new Catalog(size).services).toEqual(new Catalog(size).services);
});

it('gives no address twice, also to later pods', () => {
  const catalog = new Catalog({ services: 100, endpoints: 100 });
  const [first] = catalog.services;
  const later = [...catalog.recruit('rollout', 100).backends, catalog.nextBackend(first!)];
  const all = [...addressesOf(catalog), ...later.map(({ address }) => address)];
  expect(new Set(all).size).toBe(10_101);
});

it('adds a service that isn’t in its list', () => {
  const catalog = new Catalog({ services: 2, endpoints: 1 });
  expect(catalog.recruit('rollout', 7)).toMatchObject({
    namespace: 'team-00',
    name: 'rollout',
    backends: { length: 7 },
  });
  expect(catalog.services).toHaveLength(2);
});
