import ArgumentParser

/// A command of `nw`.
///
/// Its arguments are understood without those of the others, see ``Program``. The parser then needs to be told that it stands below
/// another command: it would look for the options that only a whole tool has, which takes as long again.
protocol Subcommand: AsyncParsableCommand {
    /// What the parser's configuration says of a command: name, help and what stands below it.
    static var outline: CommandConfiguration { get }

    /// Makes ready what must be chosen before anything runs.
    ///
    /// - Returns: Where the command's task begins; `nil` for the threads of Swift's pool.
    func prepare() -> (any TaskExecutor)?
}

extension Subcommand {
    func prepare() -> (any TaskExecutor)? { nil }

    static var configuration: CommandConfiguration {
        var configuration = outline
        configuration._superCommandName = NW.name
        if !configuration.discussion.contains("Exit codes:") { configuration.discussion += "\n\n" + exitCodes }
        return configuration
    }

    /// What most commands end with; one that differs says so itself.
    private static var exitCodes: String {
        """
        Exit codes:
          0         success
          1         failure; one line on standard error says why
          64        wrong usage
          130, 143  ended by SIGINT or SIGTERM
        """
    }
}
