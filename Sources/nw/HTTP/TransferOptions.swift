import ArgumentParser
import CausewayProtocols

/// The options that `nw download` and `nw upload` share.
struct TransferOptions: ParsableArguments {
    @Option(
        name: [.customShort("u"), .long],
        help: ArgumentHelp("Answer challenges of the URL's origin with Digest or Basic.", valueName: "user:password"))
    var user: String?

    @OptionGroup var negotiation: NegotiationOptions

    @Flag(name: .shortAndLong, help: "Show no progress.")
    var quiet = false

    func validate() throws { try negotiation.check(hasUser: user != nil) }

    /// The user and the password, if they are given.
    var credential: PasswordCredential? { HTTPPlan.credential(user) }
}
