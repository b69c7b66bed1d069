// The drop-in for sources that say `import Security` beside `import Network`: verify blocks, identities, certificates. The names are
// Causeway's; a program that wants only these gets the others into view as well.
@_exported public import Causeway
