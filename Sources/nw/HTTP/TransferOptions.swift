import ArgumentParser
import CausewayProtocols

/// Options shared by `nw download` and `nw upload`.
struct TransferOptions: ParsableArguments {
    @Option(
        name: [.customShort("u"), .long],
        help: ArgumentHelp("Answer challenges of the URL's origin with Digest or Basic.", valueName: "user:password"))
    var user: String?

    @OptionGroup var negotiation: NegotiationOptions

    @Flag(name: .shortAndLong, help: "Show no progress.")
    var quiet = false

    func validate() throws { try negotiation.check(hasUser: user != nil) }

    /// The user and password, if given.
    var credential: PasswordCredential? { HTTPPlan.credential(user) }
}
