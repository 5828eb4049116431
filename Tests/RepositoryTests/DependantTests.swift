import Foundation
import Testing

@Suite("Other packages use this one", .dependantPackages)
struct DependantTests {
  @Test("two of the README's program greet each other over loopback")
  func programOfTheReadme() async throws {
    let said = try await DependantPackages.play(
      """
      start anna hello Anna
      start ben hello Ben
      wait
      cat anna.out ben.out
      """)
    #expect(said == "Hello, Anna, from Ben.\nHello, Ben, from Anna.\n")
  }

  @Test("code that imports submodules, and names itself by UIDevice, builds and runs as it is")
  func imports() async throws {
    #expect(try await DependantPackages.play("start it imports; wait; cat it.out") == "true\n")
  }

  @Test("the chat carries what is typed to all others, tells who comes and goes, and shows no control characters")
  func chat() async throws {
    let said = try await DependantPackages.play(
      #"""
      start anna chat Anna
      start ben chat Ben
      sees anna '* Ben is here'
      sees ben '* Anna is here'
      start carl chat Carl
      sees anna '* Carl is here'
      sees ben '* Carl is here'
      types anna $'Hello, \e[31mall.'
      sees ben 'Anna: Hello, [31mall.'
      sees carl 'Anna: Hello, [31mall.'
      types ben 'Bye.'
      leaves ben
      for name in anna carl; do sees $name '* Ben has gone'; sees $name 'Ben: Bye.'; done
      leaves anna
      leaves carl
      wait
      grep -hF Ben: anna.out carl.out
      """#)
    #expect(said == "Ben: Bye.\nBen: Bye.\n")
  }

  @Test("the drawing becomes the same for all, for who comes later, too, and takes nothing beside the paper")
  func drawing() async throws {
    let said = try await DependantPackages.play(
      """
      start anna drawing Anna
      start ben drawing Ben
      sees anna '* 1 more at the table'
      sees ben '* 1 more at the table'
      types anna '0 0 a'
      types ben '1 0 b'
      types anna '32 0 x'
      # Both at once, in one place: one of them stands. What each draws behind that shows that it has arrived.
      types anna '3 1 1'
      types ben '3 1 2'
      types anna '4 1 A'
      types ben '5 1 B'
      sees anna ab..
      start carl drawing Carl
      sees carl ab..
      types carl '31 7 c'
      for name in anna ben carl; do sees $name AB..; sees $name ...............................c; done
      for name in anna ben carl; do leaves $name; done
      wait
      grep -c 'such as 4 2 #' anna.out
      for name in anna ben carl; do grep '^[^*s]' $name.out | tail -n 8 | sed 's/[12]/?/'; done
      for name in anna ben carl; do grep '^[^*s]' $name.out | tail -n 8 | cksum; done | uniq | wc -l
      """)
    let empty = String(repeating: ".", count: 32)
    let paper =
      ["ab" + empty.dropFirst(2), "...?AB" + empty.dropFirst(6)] + Array(repeating: empty, count: 5)
      + [empty.dropLast() + "c"]
    #expect(said == (["1"] + paper + paper + paper + ["1"]).joined(separator: "\n") + "\n")
  }

  @Test("the drop box stores the files of who has its code, and nothing of anybody else")
  func dropBox() async throws {
    let said = try await DependantPackages.play(
      """
      mkdir box
      head -c 3000000 /dev/urandom >photo.bin
      start box dropbox open box
      sees box 'code '
      code=$(sed -n 's/^code //p' box.out | tr -d ' ')
      "$programs/dropbox" put "$code" photo.bin
      "$programs/dropbox" put "$code" photo.bin
      cmp photo.bin box/photo.bin
      sees box 'photo.bin: 3000000 bytes, was there already'
      echo other >other.bin
      "$programs/dropbox" put "$(( (10#$code + 1) % 1000000 + 1000000 ))" other.bin && exit 1
      "$programs/dropbox" put 12ab other.bin && exit 1
      sees box 'wrong code from Somebody'
      ls -A box
      """)
    let lines = said.split(separator: "\n").map(String.init)
    #expect(lines.count == 5 && lines[0] == "photo.bin: 3000000 bytes, stored", "\(said)")
    #expect(lines[1] == "photo.bin: 3000000 bytes, was there already")
    #expect(lines[2].hasPrefix("dropbox: the code was not proven"))
    #expect(lines[3] == "a code has 6 to 16 digits")
    #expect(lines[4] == "photo.bin")
  }

  @Test("the game takes moves in turn and by its rules, ends for both with the same winner, and ends the programs")
  func game() async throws {
    let said = try await DependantPackages.play(
      """
      start anna game Anna
      start ben game Ben
      sees anna '* you play'
      sees ben '* you play'
      x=anna o=ben
      if grep -q 'you play X' ben.out; then x=ben o=anna; fi
      types $o 5
      sees $o 'it is not your turn'
      types $x 1
      sees $o X23
      types $o 1
      sees $o 'a free square, please'
      types $o 5
      sees $x 4O6
      types $x 2
      sees $o XX3
      types $o 6
      sees $x 4OO
      types $x 3
      wait
      for name in $x $o; do tail -n 4 $name.out; done
      """)
    let end = "XXX\n4OO\n789\n* X has won\n"
    #expect(said == end + end)
  }

  @Test("the camera roll gives everybody what he lacks, for who comes later, too, and takes nothing but pictures")
  func cameraRoll() async throws {
    let said = try await DependantPackages.play(
      #"""
      mkdir anna-roll ben-roll carl-roll
      for picture in anna-roll/a ben-roll/b; do { printf '\xff\xd8\xff'; head -c 300000 /dev/urandom; } >$picture.jpg; done
      echo none >ben-roll/c.jpg
      start anna cameraroll Anna anna-roll
      start ben cameraroll Ben ben-roll
      sees anna 'b.jpg: from Ben'
      sees ben 'a.jpg: from Anna'
      sees anna 'c.jpg: not wanted'
      start carl cameraroll Carl carl-roll
      sees carl 'a.jpg: from'
      sees carl 'b.jpg: from'
      cmp anna-roll/a.jpg carl-roll/a.jpg
      cmp ben-roll/b.jpg carl-roll/b.jpg
      ls carl-roll anna-roll
      """#)
    #expect(said == "anna-roll:\na.jpg\nb.jpg\n\ncarl-roll:\na.jpg\nb.jpg\n")
  }

  @Test(
    "the image sender, written for GKSession, sends pictures in slices to all, and they are whole on the other side")
  func imageSender() async throws {
    let said = try await DependantPackages.play(
      #"""
      mkdir -p anna-images ben-images carl-images state
      for name in anna ben; do
        { printf '\x89PNG\r\n\x1a\n'; head -c 3000000 /dev/urandom; } >$name.png
      done
      echo none >no.png
      start anna imagesender Anna anna-images
      start ben imagesender Ben ben-images
      sees anna 'Ben is here'
      sees ben 'Anna is here'
      types anna no.png
      sees anna 'not a PNG: no.png'
      # Both at once.
      types anna anna.png
      types ben ben.png
      sees ben 'image-1.png: 3000008 bytes from Anna'
      sees anna 'image-1.png: 3000008 bytes from Ben'
      start carl imagesender Carl carl-images
      for name in Anna Ben; do sees carl "$name is here"; done
      types carl ben.png
      leaves carl
      for name in anna ben; do
        sees $name '3000008 bytes from Carl'
        sees $name 'Carl has gone'
      done
      cmp anna.png ben-images/image-1.png
      cmp ben.png anna-images/image-1.png
      cmp ben.png anna-images/image-2.png
      find state -name 'known-peers*'
      leaves anna
      sees ben 'Anna has gone'
      leaves ben
      wait
      grep -c 'is here' anna.out ben.out carl.out
      """#)
    #expect(said == "anna.out:2\nben.out:2\ncarl.out:2\n")
  }

  @Test("a program for Multipeer Connectivity finds, invites, talks, streams and sends files among three")
  func multipeer() async throws {
    let said = try await DependantPackages.play(
      #"""
      head -c 3000000 /dev/urandom >photo.bin
      start anna multipeer Anna
      start ben multipeer Ben
      sees anna '* Ben is here'
      sees ben '* Anna is here'
      start carl multipeer Carl
      for name in anna ben; do sees $name '* Carl is here'; done
      sees carl '* Anna is here'
      sees carl '* Ben is here'
      types anna $'Hello, \e[31mall.'
      for name in ben carl; do sees $name 'Anna: Hello, [31mall.'; done
      types ben '/stream la la'
      for name in anna carl; do sees $name 'Ben, in words: la la'; done
      types carl "/file photo.bin"
      for name in anna ben; do sees $name 'photo.bin is in from-Carl'; done
      sees carl 'photo.bin to Anna: sent'
      sees carl 'photo.bin to Ben: sent'
      for file in from-Carl-*; do cmp photo.bin $file; done
      types ben /leave
      for name in anna carl; do sees $name '* Ben is not here'; done
      types ben 'Anybody?'
      sees ben 'nobody is here'
      for name in anna ben carl; do leaves $name; done
      wait
      sees anna 'in a fine mood'
      ls from-Carl-* | wc -l
      for name in anna ben carl; do grep -c '^[*].* is here' $name.out; done
      """#)
    #expect(said == "2\n2\n2\n2\n")
  }

  @Test("three of which two share no network are one session: they talk and send files over the third")
  func multipeerOverAnother() async throws {
    let said = try await DependantPackages.play(
      #"""
      networks attic cellar
      mkdir -p state
      head -c 1000000 /dev/urandom >photo.bin
      start ben multipeer Ben
      network=attic start anna multipeer Anna
      network=cellar start carl multipeer Carl
      for name in Anna Carl; do sees ben "* $name is here"; done
      for name in Ben Carl; do sees anna "* $name is here"; done
      for name in Anna Ben; do sees carl "* $name is here"; done
      types anna 'Hello, all.'
      for name in ben carl; do sees $name 'Anna: Hello, all.'; done
      types carl '/stream la la'
      for name in anna ben; do sees $name 'Carl, in words: la la'; done
      types carl "/file photo.bin"
      for name in anna ben; do sees $name 'photo.bin is in from-Carl'; done
      for file in from-Carl-*; do cmp photo.bin $file; done
      # Let in by a program, or by another's word: no person has made anybody known.
      find state -name 'known-peers*'
      types anna /leave
      for name in ben carl; do sees $name '* Anna is not here'; done
      # They are nowhere in sight of each other.
      grep -c 'Carl is in sight' anna.out || :
      grep -c 'Anna is in sight' carl.out || :
      for name in anna ben carl; do leaves $name; done
      wait
      """#)
    #expect(said == "0\n0\n")
  }

  @Test(
    "the basic client finds its service by name, joins, asks, calls, pings; both say who comes and goes, and clean up")
  func basicServiceAndClient() async throws {
    let said = try await DependantPackages.play(
      """
      export LC_ALL=C
      start service BasicService
      sees service 'Waiting for somebody'
      start client BasicClient
      wait
      sort service.out
      echo
      sort client.out
      """)
    #expect(
      said == """
        Basic client has joined.
        Basic client has left: remoteLeft.
        Basic client wanted to join over tcp, and may.
        Basic service ends in good order.
        Name advertised. Waiting for somebody who joins.
        Name org.example.basic.sample claimed.
        Name released, object withdrawn, nothing advertised.
        Node started.
        Object published at /sample.
        The owner of org.example.basic.sample is now this program.
        concatenate("Code ", "Monkies!!!!!!!")

        / has piconet.node.objects(prefix: text) -> [ObjectDescription]
        / has piconet.node.ping() -> nothing
        /sample has org.example.basic.concatenate(first: text, second: text) -> text
        /sample.concatenate returned "Code Monkies!!!!!!!", as it should.
        Basic client ends in good order.
        Basic service has joined.
        Basic service has left: leftHere.
        Found org.example.basic.sample at Basic service.
        Joined Basic service over tcp.
        Looking for org.example.basic.sample.
        The owner of org.example.basic.sample is now Basic service.
        The owner of org.example.basic.sample is now nobody.
        org.example.basic.sample is absent: noOwner.
        org.example.basic.sample is present.

        """)
  }
}
