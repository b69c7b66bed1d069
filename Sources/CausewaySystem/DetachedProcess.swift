internal import CCausewayLinux

/// A program that goes on after the end of this process.
package enum DetachedProcess {
    /// Starts a program without the files, the terminal and the signal handling of this process. Blocks until the program runs.
    ///
    /// - Parameters:
    ///   - path: The path of the program.
    ///   - arguments: The arguments after the name of the program.
    ///   - environment: The environment of the program.
    /// - Throws: The error of the call that failed, such as `ENOENT`; `EPERM` in a process with more rights than its user.
    package static func start(
        _ path: String, arguments: [String], environment: [String: String]
    ) throws(SystemError) {
        var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) }
        var values: [UnsafeMutablePointer<CChar>?] = environment.map { strdup($0 + "=" + $1) }
        defer { for text in words + values { free(text) } }
        words.append(nil)
        values.append(nil)
        try check(cw_detached_start(path, words, values), "execve")
    }

    /// Returns whether a file is a program that contains a text, and that no other user but the superuser can change. Reads the file.
    package static func isProgram(_ path: String, containing text: String) -> Bool {
        cw_program_contains(path, text) == 1
    }
}

/// The log of the system.
package enum SystemLog {
    /// Writes a line for users who look for the reason of a behaviour (syslog, level info). Can block.
    package static func note(_ text: String) { cw_log_note(text) }
}
