package import CausewayProtocols
internal import CausewayTLS

extension NTLMFunctions {
    /// The functions of OpenSSL. Without its legacy provider, they return `nil`.
    package static var library: NTLMFunctions { LibraryNTLM.functions }

    /// The reason why ``library`` has no functions, with the package to install; `nil` if it has them. The first use loads the provider.
    package static var libraryProblem: String? { LibraryNTLM.problem }
}
