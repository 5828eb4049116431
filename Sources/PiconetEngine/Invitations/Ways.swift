/// What may lead to a node besides a dial: what attempts of ours need to know from the rest of their engine. Only for
/// use during the call that it is passed to.
struct Ways {
  let links: LinkTable
  let associations: AssociationTable
}
