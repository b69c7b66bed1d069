package import CausewayProtocols
internal import CausewayTLS

extension NTLMFunctions {
    /// OpenSSL's functions for NTLM. They return `nil` if OpenSSL or its legacy provider is missing.
    package static var library: NTLMFunctions { LibraryNTLM.functions }

    /// The reason why the functions in ``library`` return `nil`, with the package to install; `nil` if the functions
    /// work. The first use loads OpenSSL's legacy provider.
    package static var libraryProblem: String? { LibraryNTLM.problem }
}
