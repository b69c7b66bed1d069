import ArgumentParser

/// A command of `nw`.
///
/// Its arguments are parsed without loading the other commands, see ``Program``. The configuration names `nw` as the
/// parent command. Without a parent, the parser would also look for options that only root commands have, such as
/// `--generate-completion-script`, which doubles the parsing time.
protocol Subcommand: AsyncParsableCommand {
    /// The configuration for the parser: name, help and subcommands.
    static var outline: CommandConfiguration { get }

    /// Prepares everything that must be set before the command's task starts.
    ///
    /// - Returns: The executor for the command's task; `nil` for Swift's thread pool.
    func prepare() -> (any TaskExecutor)?
}

extension Subcommand {
    func prepare() -> (any TaskExecutor)? { nil }

    static var configuration: CommandConfiguration {
        var configuration = outline
        configuration._superCommandName = NW.name
        if !configuration.discussion.contains("Exit codes:") {
            configuration.discussion += "\n\n" + ExitCodeText.standard
        }
        return configuration
    }
}

/// An `nw serve` server with options that differ from the other servers'.
///
/// The command's name has two words. ``Program`` recognizes such commands itself, because the parser would treat the
/// second word as an argument of ``ServeCommand``.
protocol ServerSubcommand: Subcommand {
    /// The two words of the command's name: `serve`, and the kind of server.
    static var words: [String] { get }
}
