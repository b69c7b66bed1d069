package import CausewayProtocols
internal import CausewayTLS

extension NTLMFunctions {
    /// The functions for NTLM, from OpenSSL. They return `nil` if OpenSSL or its legacy provider is missing.
    package static var library: NTLMFunctions { LibraryNTLM.functions }

    /// The reason why the functions in ``library`` return `nil`, and the package to install. `nil` if the functions
    /// work. The first use loads the provider.
    package static var libraryProblem: String? { LibraryNTLM.problem }
}
