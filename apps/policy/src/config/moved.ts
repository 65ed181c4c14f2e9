/** The ends that `explain` took: `[cluster/]NAMESPACE/KIND/NAME`, `[cluster/]namespace/NAME`, or an address. */
const END =
  /^(?:([\w.-]+)\/)?([\w.-]+\/(?:pod|deployment|statefulset|daemonset)\/[\w.-]+|namespace\/[\w.-]+)$|^([\da-f]*[.:][\da-f.:]+)$/;

const HINT = 'with contexts of your kubeconfig';

/** What `semaphore` does, since it alone has these subcommands. For one release. */
export const moved = {
  check: () => `"semaphore check --network-policies --context c1 --context c2", ${HINT}`,
  explain: ([from = '', to = '', port = '']: readonly string[]) => {
    const [caller, target] = [from, to].map(endOf);
    const isRight = caller !== undefined && target !== undefined && /^\d+(?:\/\w+)?$/.test(port);
    const flags = isRight ? `--from ${caller} --to ${target}:${port}` : EXAMPLE;
    return `"semaphore explain ${flags}", ${HINT}`;
  },
};

const EXAMPLE = '--from c2/beta/pod/web --to c1/alpha/deployment/db:5432/TCP';

/** As `semaphore explain` takes it, which needs a context for the local cluster, too; undefined: it is no end. */
function endOf(word: string): string | undefined {
  const [, cluster = 'LOCAL', pods, address] = END.exec(word) ?? [];
  const end = pods ?? address;
  return end && `${cluster}/${end}`;
}
