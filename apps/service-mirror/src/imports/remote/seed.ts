import type { LocalImport, LocalSlice } from '../desired/observed.ts';
import { existingImport } from '../desired/retained.ts';
import { withoutRole } from '../../endpoints/desired/routing/in-role.ts';
import { type SourceSlice, YOUNGEST } from '../../endpoints/desired/source.ts';
import { importClusterLabel, importKey, sourceAnnotation } from '../../names.ts';
import type { SourceExport } from './read-export.ts';
import type { ServiceSeed } from './services.ts';

type Seed = { readonly exports: readonly SourceExport[]; readonly services: ServiceSeed };

/**
 * What a cluster exported when the imports were last written; the deletion guard measures its first lists against it. As the
 * youngest, a seeded export loses every conflict with what a list shows.
 *
 * @param slices ours, of an import by its key
 */
export function seedOf(
  cluster: string,
  imports: readonly LocalImport[],
  slices: (key: string) => readonly LocalSlice[],
): Seed {
  const own = imports.filter(({ clusters }) => clusters.includes(cluster));
  return {
    exports: own.map((each) => {
      const { namespace, name } = each;
      const { labels, annotations } = existingImport(each);
      return { uid: '', namespace, name, createdAt: YOUNGEST, labels, annotations };
    }),
    services: {
      services: own.map((each) => {
        const { namespace, name } = each;
        const { definition } = existingImport(each);
        return { namespace, name, exported: { own: { service: 'exported' }, definition } };
      }),
      slices: own.flatMap(({ namespace, name }) =>
        slices(importKey(namespace, name)).flatMap((slice): SourceSlice[] => {
          const [, , source] = (slice.annotations[sourceAnnotation] ?? '').split('/');
          if (slice.labels[importClusterLabel] !== cluster || source === undefined) return [];
          const { family, ports, endpoints } = withoutRole(slice);
          return [{ uid: '', namespace, name: source, service: name, family, ports, endpoints }];
        }),
      ),
    },
  };
}
