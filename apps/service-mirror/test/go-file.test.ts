import { eventually } from '@kube-semaphore/eventually';
import { describe, expect } from 'vitest';
import { goSelectors, it } from './support/go/file.ts';
import { addGlobals, type GoGlobal, globalName, goLabels } from './support/go/globals.ts';
import { type GoSource, mirrorName } from './support/go/program.ts';
import { UNRESTRICTED } from './support/migration.ts';

const db: GoSource = { name: 'db', addresses: ['10.4.0.3'] };
const web: GoGlobal = { name: 'web', localFirst: true, slices: { 'web-x': ['10.4.0.1'] } };

const MIRROR = { [mirrorName('db')]: ['10.4.0.3'] };
const BOTH = { ...MIRROR, [globalName('web')]: ['10.4.0.1'] };

/** Differences between its releases. An undefined field isn't in the file. */
const first = {
  globalSvcLabelSelector: undefined,
  globalSvcRoutingStrategyLabel: undefined,
  mirrorSvcLabelSelector: undefined,
  endpointSliceSync: undefined,
  labelSelector: goSelectors.mirrorSvcLabelSelector,
};
const forAWhile = {
  globalSvcRoutingStrategyLabel: undefined,
  globalSvcRoutingStrategy: goSelectors.globalSvcRoutingStrategyLabel,
};

describe('the JSON file of the Go program', () => {
  it.for<{
    name: string;
    global?: object;
    localCluster?: object;
    remote?: object;
    want: Readonly<Record<string, readonly string[]>>;
    warned: readonly string[];
  }>([
    { name: 'as its README has it', want: BOTH, warned: [] },
    // The manifests use the service account of the pod, which a variable replaces here.
    {
      name: 'as its manifests have it',
      localCluster: { zones: undefined, kubeConfigPath: undefined },
      remote: { resyncPeriod: undefined },
      want: BOTH,
      warned: ['listing Nodes is forbidden'],
    },
    {
      name: 'as its first releases had it',
      global: first,
      localCluster: { name: undefined, zones: undefined, kubeConfigPath: undefined },
      want: MIRROR,
      warned: ['global.labelSelector is an older spelling'],
    },
    {
      name: 'as one of its releases read it',
      global: forAWhile,
      want: BOTH,
      warned: ['global.globalSvcRoutingStrategy is an older spelling'],
    },
  ])(
    'is read unchanged, $name, under its roles',
    async (
      { global, localCluster, remote, want, warned },
      { sources, mirrors, history, goProgram, goGlobals, goAccount, goStartFile },
    ) => {
      const hasGlobals = want === BOTH;
      await sources.add({ name: db.name, labels: goLabels.mirror });
      await sources.addSlice({ name: 'db-x', service: db.name, labels: goLabels.mirror, endpoints: db.addresses });
      await addGlobals(sources, [web]);
      await goProgram.sync([db]);
      if (hasGlobals) await goGlobals().sync({ cluster: 'c2' }, [web]);
      const env = { SSM_KUBE_CONFIG: goAccount.kubeconfig };
      const program = await goStartFile(
        { global, localCluster, remote },
        { env: localCluster === undefined ? {} : env },
      );
      await eventually(() => mirrors.endpointsObjects(), []);
      await mirrors.become(want);
      const madeOf = async () =>
        (await mirrors.slices()).map(({ metadata }) => metadata.annotations?.['mirror-svc-source'] ?? '').toSorted();
      await eventually(madeOf, hasGlobals ? ['c2/default/db-x', 'c2/default/web-x'] : ['c2/default/db-x']);
      await history.caughtUp();
      expect(history.gaps).toEqual([]);
      expect(history.deletions).toEqual([]);
      // It is ready with what the Role allows, with one warning for each other right.
      const forbidden = hasGlobals
        ? [UNRESTRICTED, 'listing EndpointSlices of all namespaces', 'listing Services of all namespaces']
        : [UNRESTRICTED];
      const warnings = () =>
        program
          .log()
          .filter(({ level }) => level === 'warn' || level === 'error')
          .map(({ msg }) => msg)
          .toSorted();
      await eventually(() => warnings().length, warned.length + forbidden.length);
      for (const beginning of [...warned, ...forbidden])
        expect(warnings().filter((msg) => msg.startsWith(beginning))).toHaveLength(1);
      const routed = (await mirrors.services()).filter(
        ({ metadata }) => metadata.annotations?.['service.kubernetes.io/topology-mode'] === 'auto',
      );
      expect(routed.map(({ metadata }) => metadata.name)).toEqual(hasGlobals ? [globalName('web')] : []);
    },
  );
});
