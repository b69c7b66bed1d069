import ArgumentParser
import CCausewayImages
import CausewayRuntime
import CausewaySystem
import Dispatch

/// The tool's entry point.
///
/// The arguments are parsed synchronously on the main thread. An asynchronous entry point would start three threads first, which takes up
/// to a fifth of the run time of `nw --help` or a usage error.
@main
enum Program {
    static func main() {
        serveAsDecoder()
        do {
            let command = try understood()
            guard let asynchronous = command as? any AsyncParsableCommand else {
                var command = command
                return try command.run()
            }
            start(asynchronous)
        } catch { CommandEnd.end(NW.self, with: error) }
        // The main thread runs the main queue until the command ends the process, unless an event loop takes over the main thread.
        Engine.keepPromise()
        dispatchMain()
    }

    /// Runs the image decoder, if this process was started as a decoder by another process of this tool. In that case,
    /// no other part of the tool runs in this process.
    private static func serveAsDecoder() {
        guard CommandLine.argc > 1, CommandLine.arguments[1] == ImageSource.decoderWord else { return }
        exit(cw_image_decoder_main(CommandLine.argc - 1, CommandLine.unsafeArgv + 1))
    }

    /// Parses the arguments only with the command that they name. Loading all commands would take as much time as the
    /// parsing. If this parsing fails, the whole tool parses the arguments again and produces the error or the help.
    private static func understood() throws -> sending any ParsableCommand {
        var arguments = Array(CommandLine.arguments.dropFirst())
        if let type = NW.serveCommands.first(where: { arguments.starts(with: $0.words) }) {
            return serve(type, arguments.dropFirst(2))
        }
        if let type = NW.commands.first(where: { $0.outline.commandName == arguments.first }) {
            var words = Array(arguments.dropFirst())
            if CommandWords.areNeeded(for: words) { words = CommandWords(of: type).split(words) }
            if let command = try? type.parseAsRoot(words) { return command }
            checkOptions(of: type, words)
            arguments = arguments.prefix(1) + words
        } else {
            try NW.checkName(in: arguments)
        }
        return try NW.parseAsRoot(arguments)
    }

    private static func serve<Command: ServerSubcommand>(
        _ type: Command.Type, _ words: ArraySlice<String>
    ) -> sending any ParsableCommand {
        var words = Array(words)
        if CommandWords.areNeeded(for: words) { words = CommandWords(of: type).split(words) }
        do {
            return try type.parseAsRoot(words)
        } catch {
            checkOptions(of: type, words)
            CommandEnd.end(type, with: error)
        }
    }

    /// Ends the process if the command does not have an option that occurs in `words`. The parser has already rejected
    /// `words`, but its error would be misleading. It reports the value after an unknown option as an unexpected
    /// argument.
    private static func checkOptions(of type: any ParsableCommand.Type, _ words: [String]) {
        guard let mistake = CommandWords(of: type).unknownOption(in: words) else { return }
        let hint = mistake.closest.map { " Did you mean '\($0)'?" } ?? ""
        CommandEnd.end(type, with: ValidationError("Unknown option '\(mistake.option)'.\(hint)"))
    }

    /// How many files the process must be able to open when it starts. Some of these files are for Dispatch. Dispatch
    /// opens a file every second to check whether its threads work, and traps if it cannot.
    private static let neededFileCount = 24

    /// Starts Dispatch's first thread early if the process may open only a few files. This thread opens files when it
    /// starts. If it cannot open them, Dispatch traps.
    private static func startDispatch() {
        let limit = System.openFileLimit
        guard limit < 64 else { return }
        do {
            try System.checkRoom(forFiles: neededFileCount)
        } catch {
            printError("nw: too many open files: the limit of this process is \(limit); raise it with: ulimit -n")
            exit(EXIT_FAILURE)
        }
        let isStarted = DispatchSemaphore(value: 0)
        // Dispatch opens its files on another thread. When the timer below fires, the files are open.
        DispatchQueue.global().asyncAfter(deadline: .now()) { isStarted.signal() }
        isStarted.wait()
    }

    private static func start(_ command: sending any AsyncParsableCommand) {
        startDispatch()
        Task(executorPreference: (command as? any Subcommand)?.prepare()) {
            do {
                var command = command
                try await command.run()
                CommandEnd.end(EXIT_SUCCESS)
            } catch {
                // Pass the type of the command that ran. After a usage error, the usage text of this command is
                // printed.
                CommandEnd.end(type(of: command), with: error)
            }
        }
    }
}
