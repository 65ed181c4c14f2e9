/** What a manifest says that a container may do, and as whom. What it doesn't say is as Kubernetes has it then. */
export type SecurityContext = {
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  readonly runAsNonRoot?: boolean;
  readonly readOnlyRootFilesystem?: boolean;
  readonly allowPrivilegeEscalation?: boolean;
  readonly capabilities?: { readonly add?: readonly string[]; readonly drop?: readonly string[] };
  readonly seccompProfile?: { readonly type: string };
};

/** How `podman run` is told that. @throws {Error} as a kubelet does, if it may not be root and nobody says that it isn't */
export function securityFlags(context: SecurityContext): readonly string[] {
  const {
    runAsUser,
    runAsGroup,
    runAsNonRoot = false,
    readOnlyRootFilesystem = false,
    allowPrivilegeEscalation = true,
  } = context;
  const { capabilities: { add = [], drop = [] } = {}, seccompProfile: { type: seccomp } = { type: 'Unconfined' } } =
    context;
  if (runAsNonRoot && (runAsUser ?? 0) === 0) throw new Error('a container that may not be root has no other user');
  return [
    ...(runAsUser === undefined ? [] : [`--user=${runAsUser}${runAsGroup === undefined ? '' : `:${runAsGroup}`}`]),
    // podman would make some folders writable again.
    ...(readOnlyRootFilesystem ? ['--read-only', '--read-only-tmpfs=false'] : []),
    ...(allowPrivilegeEscalation ? [] : ['--security-opt=no-new-privileges']),
    ...drop.map((name) => `--cap-drop=${name}`),
    ...add.map((name) => `--cap-add=${name}`),
    // podman's own profile is the one that it has where nobody says anything.
    ...(seccomp === 'RuntimeDefault' ? [] : ['--security-opt=seccomp=unconfined']),
  ];
}
