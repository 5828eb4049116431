/// What may lead to a node besides a dial: what attempts of ours need to know from the rest of their engine. Lent for
/// one look.
struct Ways {
  let links: LinkTable
  let associations: AssociationTable
}
