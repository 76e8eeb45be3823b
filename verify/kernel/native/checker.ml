(* exactdp-kernel FILE [SECONDS]: is a theorem's check true? Exit 0: valid, and then what was shown, 1: not valid,
   2: not a theorem's file, 3: not within the time or the memory, each with a line. The checks are extracted from Coq
   (Checks), the forms are Python's (Forms).

   A file is one of the forms with whole numbers filled in and nothing else, as `coqc` gets it. Each form is read from
   left to right, once, without going back: fixed text, or digits as many as there are. *)

let most_bytes = 20_000_000
let most_digits = 4_000
let most_words = 512 * 1024 * 1024 (* of memory: 4 GB *)

exception Odd

(* Where the digits that begin at [at] end: 0, or no 0 in front *)
let digits text at =
  let last = String.length text in
  let rec after i = if i < last && text.[i] >= '0' && text.[i] <= '9' then after (i + 1) else i in
  let stop = after at in
  if stop = at || stop - at > most_digits || (text.[at] = '0' && stop > at + 1) then raise Odd;
  stop

let fixed text at part =
  let length = String.length part in
  if at + length > String.length text then raise Odd;
  for i = 0 to length - 1 do
    if String.unsafe_get text (at + i) <> String.unsafe_get part i then raise Odd
  done;
  at + length

let number text at stop = Big_int_Z.big_int_of_string (String.sub text at (stop - at))

(* The numbers of a list, and where it ends *)
let rec numbers text at found =
  let stop = digits text at in
  let found = number text at stop :: found in
  if stop + 1 < String.length text && text.[stop] = ';' && text.[stop + 1] = ' ' then
    numbers text (stop + 2) found
  else (List.rev found, stop)

let lists name = name = String.uppercase_ascii name

(* All numbers by their names; one that stands twice is the same both times, and lists are of one length *)
let read text parts =
  let step (at, found) part =
    match part with
    | Forms.Text part -> (fixed text at part, found)
    | Forms.Number name ->
      let stop = digits text at in
      let here = number text at stop in
      (match List.assoc_opt name found with
       | None -> (stop, (name, [here]) :: found)
       | Some seen when seen = [here] -> (stop, found)
       | Some _ -> raise Odd)
    | Forms.Numbers (name, of_a_use) ->
      let here, stop = numbers text at [] in
      if List.length here mod of_a_use <> 0 then raise Odd;
      (stop, (name, here) :: found) in
  let at, found = List.fold_left step (0, []) parts in
  let lengths = List.filter_map (fun (name, here) -> if lists name then Some (List.length here) else None) found in
  if at <> String.length text || List.exists (( <> ) (List.hd (lengths @ [0]))) lengths then raise Odd;
  found

let rec recognised text = function
  | [] -> None
  | (parts, check) :: others ->
    (match read text parts with
     | found -> Some (check, found)
     | exception Odd -> recognised text others)

let contents file =
  let channel = open_in_bin file in
  let length = in_channel_length channel in
  if length > most_bytes then raise Odd;
  let text = really_input_string channel length in
  close_in channel;
  text

let say code word =
  print_endline word;
  exit code

(* The statement as it stands in the file, and how long the lists are that it names *)
let shown text found =
  let find part from = Str.search_forward (Str.regexp_string part) text from in
  let start = find "Theorem verdict :" 0 in
  let lengths = List.filter (fun (name, _) -> lists name) found in
  let length (name, here) =
    Printf.sprintf "\nlist_%s: %d numbers" (String.lowercase_ascii name) (List.length here) in
  String.sub text start (find "\nProof." start - start) ^ String.concat "" (List.rev_map length lengths)

(* The work in a process of its own, which this one ends when the time is over, whatever it does *)
let within limit work =
  match Unix.fork () with
  | 0 -> work ()
  | worker ->
    let late _ = Unix.kill worker Sys.sigkill; say 3 "undecided: out of time" in
    List.iter (fun signal -> Sys.set_signal signal (Sys.Signal_handle late)) [Sys.sigalrm; Sys.sigterm];
    ignore (Unix.alarm limit);
    let rec ended () = try snd (Unix.waitpid [] worker) with Unix.Unix_error (Unix.EINTR, _, _) -> ended () in
    match ended () with
    | Unix.WEXITED code -> exit code
    | _ -> say 3 "undecided: too much memory"

let decide file =
  match recognised (contents file) Forms.all with
  | exception (Odd | Sys_error _ | End_of_file) -> say 2 "not a theorem's file"
  | None -> say 2 "not a theorem's file"
  | Some (check, found) ->
    let one name = List.hd (List.assoc name found) and all name = List.assoc name found in
    (match check one all with
     | true -> say 0 ("valid\n" ^ shown (contents file) found)
     | false -> say 1 "not valid"
     | exception (Out_of_memory | Stack_overflow | Failure _ | Invalid_argument _ | Z.Overflow) ->
       say 3 "undecided: too large")

let () =
  let too_much () = if (Gc.quick_stat ()).Gc.heap_words > most_words then say 3 "undecided: too much memory" in
  ignore (Gc.create_alarm too_much);
  match Array.to_list Sys.argv with
  | [_; file] -> decide file
  | [_; file; seconds] ->
    (match int_of_string_opt seconds with
     | Some limit when limit > 0 -> within limit (fun () -> decide file)
     | _ -> say 2 "SECONDS must be a whole number above 0")
  | _ -> say 2 "exactdp-kernel FILE [SECONDS]"
