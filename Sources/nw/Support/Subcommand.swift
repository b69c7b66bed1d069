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
        return configuration
    }
}
