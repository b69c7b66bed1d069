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

    /// Runs the image decoder if another process of this tool has started this process as a decoder. No other part of
    /// the tool runs in such a process.
    private static func serveAsDecoder() {
        guard CommandLine.argc > 1, CommandLine.arguments[1] == ImageSource.decoderWord else { return }
        exit(cw_image_decoder_main(CommandLine.argc - 1, CommandLine.unsafeArgv + 1))
    }

    /// Parses the arguments with the named command only: loading all commands would take as much time as the parsing.
    /// If this parsing fails, the whole tool parses the arguments again and produces the error or the help.
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

    /// Ends the process if an option in `words`, which the parser has rejected, does not exist in the command. The
    /// parser's own error would be misleading: it reports the value after such an option as an unexpected argument.
    private static func checkOptions(of type: any ParsableCommand.Type, _ words: [String]) {
        guard let mistake = CommandWords(of: type).unknownOption(in: words) else { return }
        let hint = mistake.closest.map { " Did you mean '\($0)'?" } ?? ""
        CommandEnd.end(type, with: ValidationError("Unknown option '\(mistake.option)'.\(hint)"))
    }

    /// The number of files that the process must be able to open at its start. Some of them are for Dispatch: it opens
    /// a file each second to check whether its threads work, and traps if this fails.
    private static let neededFileCount = 24

    /// Starts Dispatch's first thread early if the process's limit on open files is low. The thread opens files when it
    /// starts, and Dispatch traps if it cannot open these files.
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
        // Dispatch opens its files in another thread. These files are open when the timer below fires.
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
                // Pass the type of the command that ran: for a usage error, the usage of this command is printed.
                CommandEnd.end(type(of: command), with: error)
            }
        }
    }
}
