import Foundation
import TestSupport
import Testing

@testable import PiconetCommandLine

@Suite("Completions for shells")
struct CompletionTests {
  private static func script(_ shell: Shell) -> String {
    CompletionArguments(words: [LocalPath(shell.rawValue)]).text
  }

  @Test("each has every option of every program and command", arguments: Shell.allCases)
  func options(shell: Shell) {
    for program in PublishedCommand.programs {
      let words = [LocalPath(shell.rawValue), LocalPath(program.page)]
      let text = CompletionArguments(words: words).text
      let commands = program.page == "piconet" ? PublishedCommand.commands : []
      for command in [program] + commands {
        for option in command.description.options {
          #expect(
            text.contains(shell == .fish ? "-l \(option.long) " : "--\(option.long)"), "\(command.page) \(option.long)")
          guard let letter = option.short else { continue }
          #expect(text.contains(shell == .fish ? "-s \(letter) -l \(option.long) " : "-\(letter)"), "\(letter)")
        }
      }
      for command in commands { #expect(text.contains(command.word), "\(command.word)") }
      #expect(Self.script(shell).contains(text))
    }
  }

  @Test("the shell takes it for a script", arguments: Shell.allCases)
  func syntax(shell: Shell) throws {
    // zsh and fish may not be installed.
    guard let program = InstalledProgram(shell.rawValue) else { return #expect(shell != .bash) }
    let hostile = shell.completion(of: HostileTexts.command.description, commands: [])
    let nested = shell.completion(of: HostileTexts.command.description, commands: [HostileTexts.command])
    for text in [Self.script(shell), hostile, nested] {
      let read = try program.run([shell == .fish ? "--no-execute" : "-n"], file: text)
      #expect(read.status == 0 && read.error == "", "\(read.error)")
    }
  }

  /// What bash offers for the last of these words, as it splits them.
  private func bash(_ words: String..., in folder: String = "/nonexistent") throws -> [String] {
    let quoted = words.map(Shell.quoted).joined(separator: " ")
    let bash = try #require(InstalledProgram("bash"))
    let script = """
      cd \(Shell.quoted(folder)) 2>/dev/null
      compopt() { :; }
      \(Self.script(.bash))
      COMP_WORDS=(\(quoted)) COMP_CWORD=$((\(words.count) - 1))
      _piconet_completes_\(words[0])
      printf '%s\\n' "${COMPREPLY[@]}"
      """
    let shown = try bash.run(["--norc"], file: script)
    #expect(shown.status == 0 && shown.error == "", "\(shown.error)")
    return shown.output.split(separator: "\n").map { String($0) }
  }

  @Test("bash completes options, their words, files and directories, and the commands of piconet")
  func bashCompletes() throws {
    #expect(try bash("imagerecv", "--direct") == ["--directory="])
    #expect(try bash("imagerecv", "--ver") == ["--verbose", "--version"])
    #expect(try bash("imagerecv", "--accept", "k") == ["known"])
    #expect(try bash("imagerecv", "--accept", "=", "k") == ["known"])
    #expect(try bash("imagerecv", "--accept", "=") == ["ask", "known", "all"])
    #expect(try bash("imagerecv", "--name", "k") == [])
    #expect(try bash("imagesend", "--code", "=", "k") == [], "a code is no file")
    #expect(try bash("piconet", "tr") == ["trust"])
    #expect(try bash("piconet", "trust", "al") == ["allow"])
    #expect(try bash("piconet", "ping", "--transport", "l") == ["l2cap", "le"])
    #expect(try bash("piconet", "ping", "--trans") == ["--transport="])
    #expect(try bash("piconet", "completion", "") == ["bash", "zsh", "fish"])
    let temporary = try TemporaryFolder()
    defer { withExtendedLifetime(temporary) {} }
    let folder = temporary.path
    _ = try temporary.folder("al bum")
    try temporary.write("a'b.jpg", [])
    #expect(try Set(bash("imagesend", "a", in: folder)) == ["al bum", "a'b.jpg"])
    #expect(try Set(bash("imagesend", "--code", "a", in: folder)) == ["al bum", "a'b.jpg"], "its code may be left out")
    #expect(try bash("imagerecv", "--directory", "a", in: folder) == ["al bum"])
    #expect(try Set(bash("imagerecv", "--code-file", "=", "a", in: folder)) == ["al bum", "a'b.jpg"])
  }

  /// Names that a user may have given a device, each of which a shell could take for something else.
  private static let hostileNames = [
    "Living room", "Kitchen", "$(touch pwned)", "`touch pwned`", "a'b", "a\"b", "x; touch pwned", "back\\slash", "*",
    "-rf", "a:b", "~", "#x", "{a,b}", "${HOME}", "!!", "$'x\\ny'", "Käthe 🐕", "a\tb", "a=b", "[x]", "&&",
  ]

  /// A folder in which `piconet trust names` prints the hostile names.
  private func namesFolder() throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    let path = try folder.write("names", Array(Self.hostileNames.map { $0 + "\n" }.joined().utf8))
    let program = try folder.write(
      "piconet", Array("#!/bin/sh\n[ \"$*\" = 'trust names' ] && exec cat \(Shell.quoted(path))\n".utf8))
    try #require(chmod(program, 0o755) == 0)
    return folder
  }

  @Test("bash completes the names of known devices, each as one word that runs nothing")
  func bashNames() throws {
    let folder = try namesFolder()
    let path = "PATH=\(Shell.quoted(folder.path)):$PATH; cd \(Shell.quoted(folder.path))\n"
    let bash = try #require(InstalledProgram("bash"))
    func completed(_ words: String...) throws -> [String] {
      let script = """
        \(path)compopt() { :; }
        \(Self.script(.bash))
        COMP_WORDS=(\(words.map(Shell.quoted).joined(separator: " "))) COMP_CWORD=\(words.count - 1)
        _piconet_completes_\(words[0])
        # What the person's shell makes of the line.
        for word in "${COMPREPLY[@]}"; do eval "set -- $word"; printf '%s|%s\\n' $# "$1"; done
        """
      let shown = try bash.run(["--norc"], file: script)
      #expect(shown.status == 0 && shown.error == "", "\(shown.error)")
      return shown.output.split(separator: "\n").map { String($0) }
    }
    let all = Self.hostileNames.map { "1|\($0)" }
    #expect(try completed("imagesend", "--to", "") == ["1|all"] + all)
    #expect(try completed("imagesend", "--to", "=", "Liv") == ["1|Living room"])
    #expect(try completed("imagesend", "--to", "Living\\ r") == ["1|Living room"])
    #expect(try completed("imagesend", "--to", "$(") == ["1|$(touch pwned)"])
    for command in ["forget", "forgive", "allow", "deny", "block", "unblock", "rename", "confirm"] {
      #expect(try completed("piconet", "trust", command, "") == all, "\(command)")
    }
    #expect(try completed("piconet", "trust", "forg") == ["1|forget", "1|forgive"])
    // As `--to` takes them; where those that are meant differ in letter case, what is typed stays.
    #expect(try completed("imagesend", "--to", "liv") == ["1|Living room"])
    #expect(try completed("imagesend", "--to", "K") == ["1|Kitchen", "1|Käthe 🐕"])
    #expect(try completed("imagesend", "--to", "LIVING\\ R") == ["1|Living room"])
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/pwned"))
    // Within a quote that is open a name is inserted as it has to be there, but for what no quote keeps from history.
    func quoted(_ quote: String, _ start: String) throws -> [String] {
      let word = Shell.quoted(quote + start)
      let shown = try bash.run(
        ["--norc"],
        file: """
          \(path)compopt() { :; }
          \(Self.script(.bash))
          COMP_WORDS=(imagesend --to \(word)) COMP_CWORD=2 quote=\(Shell.quoted(quote))
          _piconet_completes_imagesend
          # bash replaces what is typed after the last quote, and adds another one.
          case $quote in "'") kept=${COMP_WORDS[2]%"${COMP_WORDS[2]##*\\'}"} ;; *) kept=$quote ;; esac
          for word in "${COMPREPLY[@]}"; do
            case $word in all) continue ;; esac
            eval "set -- $kept$word$quote"; printf '%s|%s\\n' $# "$1"
          done
          """)
      #expect(shown.status == 0 && shown.error == "", "\(shown.error)")
      return shown.output.split(separator: "\n").map { String($0) }
    }
    #expect(try quoted("'", "") == all)
    #expect(try quoted("\"", "") == all.filter { !$0.contains("!") })
    for quote in ["'", "\""] { #expect(try quoted(quote, "liv") == ["1|Living room"], "\(quote)") }
    #expect(try quoted("'", #"a'\''"#) == ["1|a'b"] && quoted("\"", "a'") == ["1|a'b"])
    #expect(try quoted("\"", #"a\""#) == ["1|a\"b"] && quoted("'", "a\"") == ["1|a\"b"])
    #expect(try quoted("\"", #"back\\s"#) == ["1|back\\slash"])
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/pwned"))
  }

  @Test("where names differ in the letter case of what is typed, that stays: bash takes back what they do not share")
  func bashLetterCase() throws {
    let folder = try TemporaryFolder()
    let program = try folder.write("piconet", Array("#!/bin/sh\nprintf 'Living room\\nLIVE\\nlid\\n'\n".utf8))
    try #require(chmod(program, 0o755) == 0)
    let bash = try #require(InstalledProgram("bash"))
    func completed(_ start: String) throws -> String {
      let shown = try bash.run(
        ["--norc"],
        file: """
          PATH=\(Shell.quoted(folder.path)):$PATH
          compopt() { :; }
          \(Self.script(.bash))
          COMP_WORDS=(imagesend --to \(Shell.quoted(start))) COMP_CWORD=2
          _piconet_completes_imagesend
          printf '%s|' "${COMPREPLY[@]}"
          """)
      #expect(shown.status == 0 && shown.error == "", "\(shown.error)")
      return shown.output
    }
    #expect(try completed("lI") == #"lIving\ room|lIVE|lId|"#)
    #expect(try completed("LIVI") == #"Living\ room|"#)
  }

  @Test("zsh and fish complete such names, too, and run no command in them", arguments: [Shell.zsh, .fish])
  func otherNames(shell: Shell) throws {
    // zsh and fish may not be installed.
    guard let program = InstalledProgram(shell.rawValue) else { return }
    let folder = try namesFolder()
    let change = "cd \(Shell.quoted(folder.path))\n"
    if shell == .zsh {
      let script = """
        \(change)PATH=\(Shell.quoted(folder.path)):$PATH
        compdef() { :; }
        compadd() { while [[ $1 != -- ]]; do shift; done; shift; print -rl -- "$@"; }
        \(Self.script(.zsh))
        _piconet_peers_imagesend
        words=(trust forget ''); _piconet_second_piconet
        # What letter case is is for zsh to say.
        compadd() { [[ "$*" == *"-M m:{[:lower:][:upper:]}="* ]] && print any case; }
        _piconet_peers_imagesend
        """
      let shown = try program.run(["-f"], file: script)
      #expect(shown.status == 0 && shown.error == "", "\(shown.error)")
      #expect(shown.output == (Self.hostileNames + Self.hostileNames + ["any case"]).map { $0 + "\n" }.joined())
    } else {
      let script = """
        \(change)set -x PATH \(Shell.quoted(folder.path)) $PATH
        \(Self.script(.fish))
        complete -C 'imagesend --to ' > to
        complete -C 'piconet trust forget ' > forget
        complete -C 'imagesend --to "liv' | string match 'Living room*'
        """
      let shown = try program.run(["--no-config"], file: script)
      #expect(shown.status == 0 && shown.error == "", "\(shown.error)")
      #expect(shown.output.hasPrefix("Living room"), "in any letter case, and in an open quote: \(shown.output)")
      // What follows a tab is a description.
      let names = Set(Self.hostileNames.map { String($0.prefix { $0 != "\t" }) })
      for file in ["to", "forget"] {
        let text = String(decoding: try TemporaryFolder.bytes("\(folder.path)/\(file)"), as: UTF8.self)
        let offered = Set(text.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) })
        #expect(offered.isSuperset(of: names), "\(file): \(names.subtracting(offered))")
      }
    }
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/pwned"))
  }

  @Test("what shells give a meaning to is escaped")
  func escapes() throws {
    #expect(Shell.quoted("it's") == #"'it'\''s'"#)
    let description = HostileTexts.command.description
    let zsh = Shell.zsh.completion(of: description, commands: [])
    #expect(zsh.contains(#"'*--needs=[with .start '\''quoted'\'' "twice" \[x\]\: $HOME `id` \\e back\\slash -dash"#))
    #expect(zsh.contains(#"(-m --may)--may=-"#) && zsh.contains(#"::\[x\]: '"#) && zsh.contains(#":A\:B|word:(word)'"#))
    let fish = Shell.fish.completion(of: description, commands: [HostileTexts.command])
    #expect(fish.contains(#"-l needs -x -a 'word' -d 'with .start \'quoted\' "twice" [x]: $HOME `id` \\e back\\slash"#))
    // Every line is whole: outside its quotes are only words that mean nothing to the shell.
    let bare = fish.replacing(#"\\"#, with: "").replacing(#"\'"#, with: "").split(separator: "\n").dropFirst()
    for line in bare {
      let outside = line.split(separator: "'", omittingEmptySubsequences: false).enumerated().filter {
        $0.offset % 2 == 0
      }
      for part in outside { #expect(part.element.allSatisfy { $0.isLetter || $0 == " " || $0 == "-" }, "\(line)") }
    }
  }

  @Test("a name has files, directories or words after it, and none for a text of one's own")
  func words() {
    func words(_ name: String) -> String {
      switch CommandDescription.Argument.required(name).words {
      case .nothing: "nothing"
      case .files: "files"
      case .directories: "directories"
      case .words(let words): words.map(\.word).joined(separator: " ")
      case .peers(let words): "peers or \(words.joined(separator: " "))"
      case .peerCommands: "commands"
      }
    }
    #expect(words("FILE") == "files" && words("DIR") == "directories")
    #expect(words("ask|known|all") == "ask known all" && words("NAME|PEER|all") == "peers or all")
    #expect(words("auto|l2cap") == "auto l2cap")
    for name in ["N", "HOST:PORT", "hciN", "SECONDS", ""] { #expect(words(name) == "nothing", "\(name)") }
  }

  @Test("piconet completion refuses a missing or unknown shell, and an unknown program")
  func command() {
    func problem(_ words: String...) -> String? {
      do throws(UsageError) {
        _ = try OptionParser.parse(
          words.map { Array($0.utf8) }, table: completionOptions, initial: CompletionArguments(), posixlyCorrect: false)
        return nil
      } catch {
        return error.message
      }
    }
    #expect(problem("bash") == nil && problem("zsh", "piconet") == nil)
    #expect(problem() == "missing shell operand")
    #expect(problem("tcsh") == "unknown shell 'tcsh'\nShells are:\n  - 'bash'\n  - 'zsh'\n  - 'fish'")
    #expect(problem("fish", "imagercv") == "no program 'imagercv' to complete; did you mean 'imagerecv'?")
    #expect(problem("fish", "imagerecv", "x") == "extra operand 'x'")
  }

  @Test("piconet under the name of another program is that one")
  func names() throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    for name in ["imagesend", "imagerecv", "piconet", "copy-of-piconet"] {
      let link = "\(folder.path)/\(name)"
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: ToolProcess.path(of: "piconet"))
      let shown = try InstalledProgram(path: link).run(["--version", "--"], file: "")
      #expect(shown.output.hasPrefix("\(name.hasPrefix("image") ? name : "piconet") (Piconet) "), "\(shown)")
    }
  }
}
